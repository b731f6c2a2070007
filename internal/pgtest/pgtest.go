package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/peterldowns/pgtestdb"
)

// Migrator prepares the database that every test gets a copy of.
type Migrator = pgtestdb.Migrator

// Config says where a database is.
type Config = pgtestdb.Config

// New returns the URL of a database of the test's own, as m prepares it. A test
// process prepares it once. It fails the test when there is no PostgreSQL.
func New(t testing.TB, m Migrator) string {
	t.Helper()
	server, err := server()
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatalf("%s: %v", Variable, err)
	}
	password, _ := at.User.Password()
	port := at.Port()
	if port == "" {
		port = "5432"
	}
	return pgtestdb.Custom(t, pgtestdb.Config{
		DriverName: "pgx", Host: at.Hostname(), Port: port, User: at.User.Username(), Password: password,
		Database: at.Path[1:], Options: at.RawQuery, ForceTerminateConnections: true,
	}, m).URL()
}

// AsSuperuser returns the URL of the same database for a superuser, who is behind no policy.
func AsSuperuser(t testing.TB, database string) string {
	t.Helper()
	server, err := server()
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	super, err := url.Parse(server.URL)
	if err != nil {
		t.Fatalf("%s: %v", Variable, err)
	}
	at.User = super.User
	return at.String()
}

// Empty returns the URL of an empty database of the test's own.
func Empty(t testing.TB) string {
	t.Helper()
	return New(t, pgtestdb.NoopMigrator{})
}

// server returns the server for this process. It is the one thing that the tests
// of a process share, so that each does not start its own. It holds on to the
// cluster: without a reference it is garbage-collected, and ends.
var server = sync.OnceValues(func() (*Cluster, error) {
	if named := os.Getenv(Variable); named != "" {
		return &Cluster{URL: named}, nil
	}
	c, err := Start(context.Background())
	if err != nil {
		return nil, fmt.Errorf("no PostgreSQL for the tests: %w", err)
	}
	return c, nil
})
