"""Whether what trials measured is what a rule of `expect` asks for."""
