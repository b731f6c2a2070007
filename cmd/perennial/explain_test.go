package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// The command line explains an attempt as the interface does, beside a service
// that runs.
func TestExplain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := sandbox.Start(t.Context(), sandbox.Options{DataDir: dir, Listen: "127.0.0.1:0", Contracts: 5, Out: io.Discard, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	var made struct{ APIKey, Shop string }
	read(t, filepath.Join(dir, "sandbox.json"), &made)
	var secrets struct{ DatabaseKey string }
	read(t, filepath.Join(dir, "secrets.json"), &secrets)
	base := s.URLs().Subscriptions + "/api/external/v2"
	ask := func(path string, out any) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-API-Key", made.APIKey)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if err := json.NewDecoder(answer.Body).Decode(out); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s answered %d, %v", path, answer.StatusCode, err)
		}
	}
	var contracts []struct{ SubscriptionContractID int64 }
	ask("/subscription-contract-details?status=ACTIVE", &contracts)
	if len(contracts) == 0 {
		t.Fatal("the store has no contract")
	}
	var queue []struct{ ID int64 }
	ask(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", contracts[0].SubscriptionContractID), &queue)
	if len(queue) == 0 {
		t.Fatal("the contract has no queue")
	}
	command := func(more ...string) (string, string, int) {
		var out, errs bytes.Buffer
		code := run(append([]string{
			"explain", "--database", filepath.Join(dir, "perennial.db"), "--secret-key", secrets.DatabaseKey, "--platform-url", s.URLs().Platform, "--shop", made.Shop,
		}, more...), &out, &errs)
		return out.String(), errs.String(), code
	}
	last := fmt.Sprint(queue[len(queue)-1].ID)

	text, errs, code := command(last, "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var got, want map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	ask("/subscription-billing-attempts/"+last+"/explanation", &want)
	for _, e := range []map[string]any{got, want} { // the sandbox has a clock of its own
		delete(e, "explainedAt")
		delete(e, "next")
		delete(e, "summary")
	}
	if diff := cmp.Diff(want, got); diff != "" || want["date"] == nil {
		t.Errorf("the command differs from the interface (-interface +command):\n%s", diff)
	}

	text, _, code = command(last)
	for _, part := range []string{"Billing attempt " + last, "\nDate\n", "\nPrices\n", "\nPreparation\n", "\nCharges\n", "\nOutcome\n", "\nNext\n", "\nActivity\n"} {
		if code != 0 || !strings.Contains(text, part) {
			t.Errorf("exit %d without %q:\n%s", code, part, text)
		}
	}
	var member struct{ ID int64 }
	order := `{"nextBillingDate":"2027-01-31","billingPolicy":{"interval":"MONTH","intervalCount":1},"customer":{"email":"ana@shopper.example"},
		"lines":[{"variantId":4001,"quantity":1,"currentPrice":"5.00","sellingPlanId":6101}],"paymentMethod":"valid"}`
	answer, err := http.Post(s.URLs().Control+"/platform/contracts", "application/json", strings.NewReader(order))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&member); err != nil {
		t.Fatal(err)
	}
	base = s.URLs().Memberships + "/api/external/v2"
	ask(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", member.ID), &queue)
	if text, errs, code := command(fmt.Sprint(queue[0].ID)); code != 0 || !strings.Contains(text, "cycle 1 of contract "+fmt.Sprint(member.ID)) {
		t.Errorf("a membership: exit %d, %s%s", code, errs, text)
	}
	if _, errs, code := command("0"); code != 1 || !strings.Contains(errs, "billing attempt 0 does not exist") {
		t.Errorf("attempt 0: exit %d, %s", code, errs)
	}
	if _, errs, code := command("999999"); code != 1 || !strings.Contains(errs, "billing attempt 999999 does not exist") {
		t.Errorf("no attempt: exit %d, %s", code, errs)
	}
	if _, errs, code := command("--shop", "nobody.myshopify.com", last); code != 1 || !strings.Contains(errs, "nobody") {
		t.Errorf("no store: exit %d, %s", code, errs)
	}
	if _, _, code := command("many"); code != 2 {
		t.Errorf("no number: exit %d", code)
	}
}

func read(t *testing.T, file string, out any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
}
