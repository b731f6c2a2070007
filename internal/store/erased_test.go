package store_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// Why columns of text keep what they have when a customer is erased (docs/privacy.md).
const (
	isUnit    = "a state, kind or unit of the service's own"
	isOrdered = "what was ordered, by number, or what became of it"
	isBooked  = "the books of points and credit are only ever added to"
	isTheirs  = "the store's words, or the service's"
)

// stays are the columns of the export that an erasure leaves as they are.
var stays = map[string]string{
	"contracts.billing_anchors": isUnit, "contracts.billing_interval": isUnit, "contracts.currency": isUnit, "contracts.delivery_anchors": isUnit, "contracts.delivery_interval": isUnit,
	"contracts.billing_country": isUnit, "contracts.delivery_country": isUnit, "contracts.line": isUnit, "contracts.status": isUnit, "contracts.last_payment": isUnit, "contracts.origin": isUnit,
	"contracts.discounts": isOrdered, "contracts.dunning": isOrdered, "contracts.ending": isOrdered, "contracts.imported_id": isOrdered, "contracts.in_flight_edits": isOrdered,
	"contracts.last_order_name": isOrdered, "contracts.later_series": isOrdered, "contracts.lines": isOrdered, "contracts.origin_order_name": isOrdered, "contracts.payment_method": isOrdered,
	"contracts.pending_change": isOrdered, "contracts.plan_pricing": isOrdered, "contracts.pricing": isOrdered, "contracts.split": isOrdered, "contracts.trial": isOrdered,
	"attempts.action_url": "where a customer confirms a charge that is under way; it ends with the charge", "attempts.currency": isUnit, "attempts.dunning": isOrdered, "attempts.error_code": isUnit,
	"attempts.error_message": isTheirs, "attempts.lines": isOrdered, "attempts.order_name": isOrdered, "attempts.platform_id": isOrdered, "attempts.preparation": isOrdered, "attempts.status": isUnit,
	"one_offs.currency": isUnit, "one_offs.product_title": isOrdered, "one_offs.sku": isOrdered, "one_offs.title": isOrdered,
	"loyalty_accounts.currency": isUnit, "loyalty_accounts.referral_code": isBooked, "loyalty_accounts.status": isUnit,
	"loyalty_entries.description": isBooked, "loyalty_entries.kind": isUnit, "loyalty_entries.note": isBooked, "loyalty_entries.source_id": isBooked, "loyalty_entries.source_type": isUnit,
	"loyalty_credits.currency": isUnit, "loyalty_credits.note": isBooked, "loyalty_credits.source_id": isBooked, "loyalty_credits.source_type": isUnit,
	"loyalty_rewards.code": isBooked, "loyalty_rewards.currency": isUnit, "loyalty_rewards.description": isBooked, "loyalty_rewards.order_name": isOrdered, "loyalty_rewards.platform_id": isBooked,
	"loyalty_rewards.reason": isTheirs, "loyalty_rewards.state": isUnit, "loyalty_rewards.type": isUnit,
	"retention_activities.action": isUnit, "retention_activities.discount": isUnit,
	"cancel_sessions.step": isUnit, "cancel_sessions.outcome": isUnit, "cancel_sessions.action": isUnit, "cancel_sessions.reason": isUnit, "cancel_sessions.arm": isUnit,
	"cancel_sessions.moves": isUnit, "cancel_sessions.offer": isOrdered,
	"messages.from_name": isTheirs, "messages.kind": isUnit, "messages.source": isUnit, "messages.status": isUnit,
	"annotations.tags": isTheirs, "annotations.target": isOrdered,
	"portal_sessions.via": isUnit,                                  // with the whole row
	"sms_consents.source": isUnit, "sms_consents.ended_by": isUnit, // with the whole row
	"portal_preferences.mails_off": isUnit, // with the whole row
	"activity.entity_type":         isUnit, "activity.event": isUnit, "activity.source": isUnit, "activity.status": isUnit, "activity.actor": isTheirs,
}

// marked are the texts of columns with a form of their own. Others get the canary alone.
var marked = map[string]string{
	"contracts.pause":     `{"reason":"canary reason","feedback":"canary feedback"}`,
	"contracts.moving":    `{"to":"PAUSED","actor":{"Source":"CUSTOMER_PORTAL","By":"customer","ClientIP":"canary"},"at":"2026-01-01T00:00:00Z","feedback":"canary","note":"canary","pause":{"reason":"canary","feedback":"canary"}}`,
	"contracts.overrides": `[{"cycle":77,"note":"canary on an order"}]`,
	"activity.info":       `{"cancellationNote":"canary","pauseReason":"canary","reason":"sent to canary@shopper.example"}`,
}

// ofEnded are columns that only a contract that is over loses.
var ofEnded = map[string]string{
	"contracts.note": "canary", "contracts.attributes": `[{"key":"to","value":"canary"}]`, "contracts.card": `{"brand":"visa","digits":"canary"}`,
}

// byDomain are columns that the test fills as the service does, so that their copies for
// searching are there.
var byDomain = []string{"contracts.customer_email", "contracts.customer_first_name", "contracts.customer_last_name", "contracts.customer_name", "contracts.customer_phone"}

// opened passes on an event as if its signature was right.
type opened platform.Event

// Open returns the event.
func (o opened) Open(func(string) string, []byte) (platform.Event, error) {
	return platform.Event(o), nil
}

func TestErasureLeavesNothingInPersonalColumns(t *testing.T) {
	t.Parallel()
	const (
		of       = shop.ID(1) // a neighbour
		customer = int64(901)
		running  = contract.ID(1)
		ended    = contract.ID(4)
	)
	for name, o := range storetest.Inhabited(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(storetest.Open(t, o).UpdateShared(t.Context(), func(tx *store.Tx) error { // the neighbour's rows have the next numbers
				_, err := tx.Exec(t.Context(), "UPDATE id_blocks SET next = next + 1000000")
				return err
			}))
			o.Subscribers = store.Subscribers{} // figures have no text of customers
			db := storetest.Open(t, o)
			found := func() (places []string) {
				t.Helper()
				for _, column := range textColumns(t, db) {
					table, name, _ := strings.Cut(column, ".")
					var n int
					must(db.Everywhere().NewRaw(fmt.Sprintf(`SELECT count(*) FROM %q WHERE lower(CAST(%q AS text)) LIKE '%%canary%%'`, table, name)).Scan(t.Context(), &n))
					if n > 0 {
						places = append(places, column)
					}
				}
				return places
			}
			must(db.ExecFor(t.Context(), of, fmt.Sprintf("DELETE FROM inbox WHERE shop_id = %d", of)))
			must(db.ExecFor(t.Context(), of, fmt.Sprintf("DELETE FROM privacy_requests WHERE shop_id = %d", of)))
			now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
			must(db.Update(t.Context(), of, func(tx *store.Tx) error {
				list, err := tx.Contracts(t.Context(), []contract.ID{running, ended})
				if err != nil {
					return err
				}
				for i := range list {
					list[i].Customer = contract.Customer{ID: customer, Email: "canary@shopper.example", FirstName: "Canary", LastName: "Canary", Name: "Canary Canary", Phone: "canary"}
				}
				return tx.PutContracts(t.Context(), list)
			}))
			// The neighbour has no entry about the customer, and no e-mail that is about no contract.
			must(db.ExecFor(t.Context(), of, fmt.Sprintf("UPDATE messages SET contract_id = 0, recipient = 'canary@shopper.example' WHERE shop_id = %d AND id = (SELECT min(id) FROM messages WHERE shop_id = %d)", of, of)))
			must(db.ExecFor(t.Context(), of, fmt.Sprintf("UPDATE messages SET contract_id = 0, recipient = 'canary' WHERE shop_id = %d AND id = (SELECT max(id) FROM messages WHERE shop_id = %d)", of, of))) // that of the member
			must(db.ExecFor(t.Context(), of, fmt.Sprintf("UPDATE activity SET entity_type = '%s', entity_id = %d, source = '%s' WHERE shop_id = %d AND id = (SELECT min(id) FROM activity WHERE shop_id = %d)",
				activity.EntitySubscriptionContractDetails, running, activity.CustomerPortal, of, of)))
			columns, placed := textColumns(t, db), 0
			for _, table := range store.PersonalTables() {
				rows := strings.NewReplacer("?0", fmt.Sprint(of), "?1", fmt.Sprint(customer)).Replace(table.Rows)
				for column := range table.Columns {
					at := table.Name + "." + column
					text, where := "canary", rows
					switch {
					case !slices.Contains(columns, at) || slices.Contains(byDomain, at):
						continue
					case stays[at] != "":
						continue
					case marked[at] != "":
						text = marked[at]
					case ofEnded[at] != "":
						text, where = ofEnded[at], rows+fmt.Sprintf(" AND id = %d", ended)
					}
					if table.Name == "messages" && column == "recipient" {
						where = rows + " AND contract_id <> 0"
					}
					must(db.ExecFor(t.Context(), of, fmt.Sprintf("UPDATE %s SET %s = '%s' WHERE shop_id = %d AND %s", table.Name, column, text, of, where)))
					placed++
				}
			}
			if before := found(); placed < 20 || len(before) < placed+len(byDomain) {
				t.Fatalf("%d columns were marked, and only these have it: %q", placed, before)
			}

			event := opened{ID: "erase", Topic: platform.CustomerRedact, Shop: "before.myshopify.com", Customer: customer, Signature: "s"}
			s := &intake.Service{
				Store: db.Intake(), Inbox: db.Inbox(), Webhooks: event, Clock: clock.NewManual(now), Log: slog.New(slog.DiscardHandler), Policy: intake.DefaultPolicy(),
			}
			must(s.Receive(t.Context(), nil, nil))
			must(s.ProcessEvents(t.Context(), of))
			if left := found(); len(left) > 0 {
				t.Errorf("the erasure leaves it in %q", left)
			}
		})
	}
}

// textColumns lists the columns of text of tables that belong to shops.
func textColumns(t *testing.T, db *store.DB) (list []string) {
	t.Helper()
	query := store.TextColumns
	if db.OnPostgres() {
		query = `SELECT table_name || '.' || column_name FROM information_schema.columns JOIN information_schema.tables AS t USING (table_schema, table_name) WHERE table_schema = 'public'
			AND t.table_type = 'BASE TABLE' AND data_type NOT IN ('bigint', 'integer', 'boolean') AND table_name <> 'webhook_signatures' AND table_name NOT LIKE 'river%'
			AND table_name IN (SELECT table_name FROM information_schema.columns WHERE column_name = 'shop_id')`
	}
	if err := db.Everywhere().NewRaw(query).Scan(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	return list
}
