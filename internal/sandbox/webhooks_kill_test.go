package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A process is killed between the commit that owes a webhook and the note that it
// has arrived.
func TestWebhooksOfKilledProcessAreSent(t *testing.T) {
	t.Parallel()
	type arrival struct{ id, body string }
	arrived := make(chan arrival, 10)
	dead := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		arrived <- arrival{r.Header.Get("webhook-id"), string(body)}
		<-dead
	}))
	t.Cleanup(receiver.Close)

	dir := t.TempDir()
	child := spawn(t, dir)
	m := ready(t, child, dir)
	endpoints := m.Subscriptions + "/api/external/v2/webhook-endpoints"
	var e struct{ ID int64 }
	if status, text := ask(t, "POST", endpoints, m.APIKey, fmt.Sprintf(`{"url":%q,"types":["subscription.created"]}`, receiver.URL)); status != http.StatusOK || json.Unmarshal([]byte(text), &e) != nil {
		t.Fatalf("adding an endpoint answered %d %s", status, text)
	}
	if status, text := ask(t, "POST", fmt.Sprintf("%s/%d/test", endpoints, e.ID), m.APIKey, ""); status != http.StatusOK {
		t.Fatalf("trying it answered %d %s", status, text)
	}
	first := wait(t, arrived)
	killAfter(t, child, 0)
	close(dead)

	child = spawn(t, dir)
	m = ready(t, child, dir)
	if status, text := ask(t, "POST", m.Control+"/clock", "", `{"advance":"PT5M"}`); status != http.StatusOK {
		t.Fatalf("moving time answered %d %s", status, text)
	}
	if again := wait(t, arrived); again != first || first.id == "" {
		t.Errorf("first %+v, then %+v", first, again)
	}
	killAfter(t, child, 0)
}

// wait returns what comes next.
func wait[T any](t *testing.T, from chan T) T {
	t.Helper()
	var none T
	select {
	case v := <-from:
		return v
	case <-time.After(readiness):
		t.Fatal("nothing came")
		return none
	}
}
