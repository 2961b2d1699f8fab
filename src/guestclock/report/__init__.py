"""What people and programs read: terminal tables, JSON, exports."""
