"""Commands around a running network: up, shell, exec, status, down, clean."""
