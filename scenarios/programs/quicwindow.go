// Sends or fetches bytes over QUIC: `quicwindow serve HOST:PORT`, or `quicwindow fetch HOST:PORT BYTES WINDOW`.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"os"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(address string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	made := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1<<32, 0)}
	der, err := x509.CreateCertificate(rand.Reader, made, made, &key.PublicKey, key)
	check(err)
	certificate := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	listener, err := quic.ListenAddr(address, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"bytes"}}, nil)
	check(err)
	fmt.Println("serving")
	for {
		connection, err := listener.Accept(context.Background())
		check(err)
		go func() {
			stream, err := connection.AcceptStream(context.Background())
			if err != nil {
				return
			}
			var count uint64
			if binary.Read(stream, binary.BigEndian, &count) == nil {
				io.CopyN(stream, zero{}, int64(count))
				stream.Close()
			}
		}()
	}
}

type zero struct{}

func (zero) Read(part []byte) (int, error) { return len(part), nil }

func fetch(address, bytes, window string) {
	count, err := strconv.ParseUint(bytes, 10, 64)
	check(err)
	most, err := strconv.ParseUint(window, 10, 64)
	check(err)
	settings := &quic.Config{
		InitialStreamReceiveWindow: most, MaxStreamReceiveWindow: most,
		InitialConnectionReceiveWindow: most, MaxConnectionReceiveWindow: most,
	}
	connection, err := quic.DialAddr(context.Background(), address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"bytes"}}, settings)
	check(err)
	stream, err := connection.OpenStreamSync(context.Background())
	check(err)
	check(binary.Write(stream, binary.BigEndian, count))
	got, err := io.Copy(io.Discard, stream)
	check(err)
	if uint64(got) != count {
		check(fmt.Errorf("%d of %d bytes", got, count))
	}
	connection.CloseWithError(0, "")
}

func main() {
	if os.Args[1] == "serve" {
		serve(os.Args[2])
	} else {
		fetch(os.Args[2], os.Args[3], os.Args[4])
	}
}
