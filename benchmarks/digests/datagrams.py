"""A program for command.yaml: a UDP socket that waits, after it wrote its port as JSON."""

import json
import socket
import sys

port = int(sys.argv[1])
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
with open("port.json", "w") as file:
    json.dump({"port": port}, file)
end.bind(("", port))
end.recv(1)
