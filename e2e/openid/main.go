// Command openid is an OpenID provider for tests: zitadel's, a certified one, over TLS, with one
// client and users in memory. Its example has the storage and the page to sign in; this gives ID
// tokens a lifetime and the user's claims, and lets people go back who signed out.
package main

import (
	"context"
	"flag"
	"log"
	"net/http"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"
)

type client struct {
	op.Client
	lifetime time.Duration
	left     string
}

func (c client) IDTokenLifetime() time.Duration       { return c.lifetime }
func (c client) IDTokenUserinfoClaimsAssertion() bool { return true }
func (c client) PostLogoutRedirectURIs() []string     { return []string{c.left} }

type store struct {
	*storage.Storage
	lifetime time.Duration
	left     string
}

func (s store) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	found, err := s.Storage.GetClientByClientID(ctx, id)
	if err != nil {
		return nil, err
	}
	return client{found, s.lifetime, s.left}, nil
}

func main() {
	address := flag.String("address", "127.0.0.1:9998", "where it listens")
	issuer := flag.String("issuer", "https://localhost:9998", "what it is called in tokens")
	certificate := flag.String("cert", "tls.crt", "certificate of the server")
	key := flag.String("key", "tls.key", "its key")
	id := flag.String("client", "console", "name of the client")
	secret := flag.String("secret", "secret", "its secret")
	redirect := flag.String("redirect", "", "where it may have people sent back to")
	left := flag.String("left", "", "where it may have people sent to who signed out")
	users := flag.String("users", "users.json", "users by id")
	lifetime := flag.Duration("lifetime", time.Hour, "of ID tokens")
	flag.Parse()

	people, err := storage.StoreFromFile(*users)
	if err != nil {
		log.Fatal(err)
	}
	storage.RegisterClients(storage.WebClient(*id, *secret, *redirect))
	held := store{storage.NewStorage(people), *lifetime, *left}
	router := exampleop.SetupServer(*issuer, held, nil, false)
	log.Fatal(http.ListenAndServeTLS(*address, *certificate, *key, router))
}
