class App:
    def greet(self:
        pass
