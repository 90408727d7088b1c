"""Commands about this computer and others: doctor, kernel, machines."""
