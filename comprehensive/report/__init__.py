"""Results for people and programs: decision trees, devices, what the doctor found; as text and as JSON."""
