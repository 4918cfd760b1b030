"""Programs with shapes: functions on tensors, recorded and replayed."""
