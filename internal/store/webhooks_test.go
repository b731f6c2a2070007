package store_test

import (
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

func TestWebhookSecretsAndBodiesAreSealed(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	err := db.Update(t.Context(), 7, func(tx *store.Tx) error {
		e := webhook.Endpoint{Secret: "whsec_new", OldSecret: "whsec_old", Enabled: true}
		if err := tx.PutEndpoint(t.Context(), &e); err != nil {
			return err
		}
		m := webhook.Message{ID: "msg_1", At: start, Body: []byte("whsec_body")}
		return tx.AddMessages(t.Context(), webhook.Addressed{Message: m, To: []webhook.EndpointID{e.ID}})
	})
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	err = db.Raw().NewRaw("SELECT secret FROM webhook_endpoints UNION ALL SELECT old_secret FROM webhook_endpoints UNION ALL SELECT body FROM webhook_messages").Scan(t.Context(), &kept)
	if err != nil || len(kept) != 3 {
		t.Fatalf("%d texts, %v", len(kept), err)
	}
	for _, text := range kept {
		if text == "" || strings.Contains(text, "whsec_") {
			t.Errorf("kept as %q", text)
		}
	}
}
