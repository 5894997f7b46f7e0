"""What a machine says of itself, as a host file: `discover`."""
