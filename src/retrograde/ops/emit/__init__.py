"""Printers: each turns a row of the law into one notation, and computes nothing."""
