//go:build soak

package store_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// TestPostgresWithoutShopConditions runs what a store must do on a database that never sees
// the conditions by which queries choose their shop: the wall is enough.
func TestPostgresWithoutShopConditions(t *testing.T) {
	t.Parallel()
	var gone atomic.Int64
	t.Run("suite", func(t *testing.T) {
		open := func(options func(testing.TB) store.Options) func(testing.TB) *store.DB {
			return func(t testing.TB) *store.DB {
				o := options(t)
				o.URL = withoutConditions(t, o.URL, &gone)
				return storetest.Open(t, o)
			}
		}
		shared := func(t testing.TB) store.Options {
			return storetest.SharedPostgresOptions(t, "webhook_signatures") // has no wall: a signature counts for one store of all
		}
		storetest.Run(t, open(shared), open(storetest.PostgresOptions))
	})
	if gone.Load() < 1000 {
		t.Errorf("only %d conditions were taken away", gone.Load())
	}
}

// ofShop is a condition that chooses a shop.
var ofShop = regexp.MustCompile(`(?:"?\w+"?\.)?"?\bshop_id"? = \d+`)

// withoutConditions returns the address of a server that passes everything on to the
// database but conditions that choose a shop, which it counts.
func withoutConditions(t testing.TB, database string, gone *atomic.Int64) string {
	t.Helper()
	at, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	behind := at.Host
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				server, err := net.Dial("tcp", behind)
				if err != nil {
					return
				}
				defer server.Close()
				go func() {
					defer client.Close()
					_, _ = io.Copy(client, server)
				}()
				_ = pass(server, client, gone)
			}()
		}
	}()
	at.Host = listener.Addr().String()
	return at.String()
}

// pass sends the messages of a client on.
func pass(server io.Writer, client io.Reader, gone *atomic.Int64) error {
	for head := make([]byte, 4); ; head = make([]byte, 5) { // the first message has no kind
		if _, err := io.ReadFull(client, head); err != nil {
			return err
		}
		size := head[len(head)-4:]
		body := make([]byte, binary.BigEndian.Uint32(size)-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return err
		}
		if head[0] == 'Q' || head[0] == 'P' {
			body = ofShop.ReplaceAllFunc(body, func([]byte) []byte {
				gone.Add(1)
				return []byte("true")
			})
			binary.BigEndian.PutUint32(size, uint32(len(body)+4))
		}
		if _, err := server.Write(append(head, body...)); err != nil {
			return err
		}
	}
}
