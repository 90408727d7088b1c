# nothing needs to be done here
