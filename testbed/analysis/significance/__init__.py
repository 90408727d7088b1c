"""What data of few seeds show: errors of many tests and looks, noise, and the effects that it hides."""
