"""What is wrong, and where: births, the doctor, memory. `rg.births`, `rg.doctor`, `rg.memory`."""
