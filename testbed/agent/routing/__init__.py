"""What runs beside FRR's daemons; stands alone, as the agent does."""
