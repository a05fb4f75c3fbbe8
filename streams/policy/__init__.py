"""What is decided, purely: values in, a decision out."""
