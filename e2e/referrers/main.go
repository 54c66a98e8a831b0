// Command referrers is a registry for tests that lists what refers to an image, as the CNCF
// distribution registry does not: that of go-containerregistry, over TLS, its content in memory.
package main

import (
	"flag"
	"log"
	"net/http"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	address := flag.String("address", "127.0.0.1:5000", "where it listens")
	certificate := flag.String("cert", "tls.crt", "certificate of the server")
	key := flag.String("key", "tls.key", "its key")
	flag.Parse()

	handler := registry.New(registry.WithReferrersSupport(true))
	log.Fatal(http.ListenAndServeTLS(*address, *certificate, *key, handler))
}
