package store

import (
	"slices"
	"strings"
	"testing"
)

// textColumns lists the columns of text of tables that belong to shops.
const textColumns = `SELECT t.name || '.' || c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' AND lower(c.type) NOT IN ('bigint', 'integer', 'boolean')
	AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE 'search_parts%' AND t.name <> 'webhook_signatures' AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) AS s WHERE s.name = 'shop_id')`

// personalGaps compares what is said of columns with the columns that there are.
func personalGaps(columns []string, exported []personalTable, others map[string]string) (gaps []string) {
	known := make(map[string]bool)
	for _, t := range exported {
		for _, c := range t.columns {
			name, _, _ := strings.Cut(c, ":")
			known[t.name+"."+name] = true
		}
	}
	for _, c := range columns {
		switch reason, other := others[c]; {
		case known[c] && other:
			gaps = append(gaps, c+" is exported, and is said not to be")
		case !known[c] && reason == "":
			gaps = append(gaps, c+" is new: export it in personalTables and erase it in Redact, or say in notPersonal why it is not about a customer")
		}
	}
	for c := range others {
		if !slices.Contains(columns, c) {
			gaps = append(gaps, c+" is in notPersonal, and not in the schema")
		}
	}
	return gaps
}

// schemaColumns returns the columns of the schema that a query finds.
func schemaColumns(t *testing.T, query string) (columns []string) {
	t.Helper()
	db, err := Open(t.Context(), Options{URL: t.TempDir() + "/schema.db", Create: true, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.reader.NewRaw(query).Scan(t.Context(), &columns); err != nil {
		t.Fatal(err)
	}
	return columns
}

func TestEveryTextColumnIsExportedOrSaidNotToBePersonal(t *testing.T) {
	t.Parallel()
	columns := schemaColumns(t, textColumns)
	if len(columns) < 150 {
		t.Fatalf("only %d columns of text were found", len(columns))
	}
	for _, gap := range personalGaps(columns, personalTables, notPersonal) {
		t.Error(gap)
	}
	if gaps := personalGaps([]string{"contracts.note", "contracts.nickname"}, personalTables, nil); len(gaps) != 1 || !strings.HasPrefix(gaps[0], "contracts.nickname is new") {
		t.Errorf("a new column is reported as %q", gaps)
	}
}

// The reasons why columns of text are not exported.
const (
	isCopy     = "a copy, for searching, of what is exported; erased with it"
	isSecret   = "a hash or sealed secret, of no meaning to the customer; removed with what it opens"
	isState    = "a state, kind or unit of the service's own"
	isStores   = "the store's: its products, plans, settings and staff"
	isIdentity = "a number that the service or the platform gives"
	isShort    = "kept for a day at most, to answer a repeated request"
)

// notPersonal are the columns of text that an export leaves out, each with the reason.
var notPersonal = map[string]string{
	"amount_counts.line": isState, "swap_notices.currency": isState, "swap_notices.pricing": isState, "api_keys.app": isStores, "api_keys.hash": isSecret, "api_keys.hint": isStores, "api_keys.name": isStores, "api_keys.scopes": isStores,
	"api_keys.created_by": isStores, "api_keys.last_used_from": isStores, "api_keys.tail": isStores, "api_requests.app": isStores, "api_requests.key_name": isStores, "api_requests.method": isState,
	"api_requests.parameters": "names of parameters, without their values; kept for a week", "api_requests.path": "an address of the interface, which names objects by number; kept for a week",
	"activity.request_id": isIdentity, "api_requests.request_id": isIdentity,
	"archive_imports.archive": isIdentity, "archive_imports.type": isState,
	"attempts.flags": isState, "attempts.key": isIdentity,
	"bulk_items.status": isState, "bulk_items.discount": isIdentity, "bulk_items.code": isState, "bulk_items.reason": "why a contract could not be changed, in the service's words",
	"bulk_jobs.action": isStores, "bulk_jobs.client_ip": isStores, "bulk_jobs.kind": isState, "bulk_jobs.request": isIdentity, "bulk_jobs.selection": "a search, kept until its contracts are written down",
	"bulk_jobs.started_by": isStores, "bulk_jobs.status": isState,
	"cancel_flows.mode": isState, "cancel_flows.instructions": isStores, "cancel_flows.support": isStores, "cancel_flows.currency": isState, "cancel_flows.reasons": isStores,
	"cancel_flows.published_by": isStores, "cancel_sessions.offer_kind": isCopy, "cancel_sessions.offer_currency": isState,
	"bundles.line": isState, "bundles.settings": isStores,
	"card_tries.payment_method": isIdentity,
	"contract_counts.line":      isState, "contract_counts.status": isState, "contract_counts.delivery_interval": isState,
	"contract_creations.request": isIdentity, "contract_facets.line": isState, "contract_facets.status": isState, "contract_facets.delivery_interval": isState,
	"contract_facets.customer_folded": isCopy, "contract_lines.line": isState, "contracts.dunning_class": isCopy, "contracts.email_folded": isCopy, "contracts.name_folded": isCopy,
	"customer_counts.line": isState, "customer_counts.customer_folded": isCopy,
	"contract_comments.author": isStores, "portal_links.opened_by": isStores, "portal_sessions.opened_by": isStores,
	"cohort_months.currency": isState, "contract_history.currency": isState, "contract_history.reason": isState, "contract_history.status": isState,
	"failure_days.class": isState, "failure_days.currency": isState, "metric_days.currency": isState, "order_outcomes.class": isState,
	"order_outcomes.currency": isState, "order_outcomes.result": isState, "subscriber_holdings.currency": isState,
	"delivery_profiles.name": isStores, "delivery_profiles.pending": isStores, "delivery_profiles.plan_groups": isStores,
	"findings.kind": isState, "findings.object": isIdentity, "findings.what": "a difference of the books, in the service's words",
	"first_syncs.stage": isState, "first_syncs.owner": isIdentity, "first_syncs.failure": "why a call of the platform failed, in the service's words",
	"queue_quarters.currency": isState,
	"saved_views.name":        isStores, "saved_views.query": "a search of the store's users",
	"portal_settings.settings": isStores, "portal_settings.account_secret": isSecret, "portal_sessions.id_token": isSecret,
	"portal_account_sign_ins.state": isSecret, "portal_account_sign_ins.browser": isSecret, "portal_account_sign_ins.nonce": isSecret, "portal_account_sign_ins.verifier": isSecret,
	"setup_marks.step": isState, "shop_staff.added_by": isStores, "shop_staff.platform_user": isIdentity, "shop_staff.role": isStores,
	"staff_invitations.email": isStores, "staff_invitations.hash": isSecret, "staff_invitations.invited_by": isStores, "staff_invitations.role": isStores,
	"idempotency_keys.body": isShort, "idempotency_keys.fingerprint": isShort, "idempotency_keys.header": isShort, "idempotency_keys.name": isShort, "idempotency_keys.token": isShort,
	"inbox.api_version": isState, "inbox.attempt": isIdentity, "inbox.id": isIdentity, "inbox.key": isIdentity, "inbox.payment_method": isIdentity, "inbox.topic": isState,
	"inbox.reason":                  "why an event failed, in the service's words; kept for a week",
	"loyalty_accounts.email_folded": isCopy, "loyalty_accounts.rewarded": isState, "loyalty_credits.actor": isStores, "loyalty_entries.actor": isStores, "loyalty_facts.source_type": isState,
	"loyalty_lots.source_id": isCopy, "loyalty_lots.source_type": isCopy, "loyalty_programs.terms": isStores, "loyalty_requests.request": isIdentity, "loyalty_uses.role": isState,
	"mail_templates.author": isStores, "mail_templates.body": isStores, "mail_templates.button": isStores, "mail_templates.heading": isStores, "mail_templates.kind": isState,
	"mail_templates.language": isState, "mail_templates.preheader": isStores, "mail_templates.subject": isStores,
	"messages.actor": isStores, "messages.dedupe_key": isIdentity, "messages.mail_id": isIdentity,
	"messages.channel": isState, "messages.provider_id": isIdentity, "messages.delivery": isState,
	"moves.address": isStores, "moves.api_key": isSecret, "moves.client_ip": isStores, "moves.direction": isState, "moves.failure": "why another service could not be read, in the service's words",
	"moves.file": "the name of a file and of its columns, in the merchant's words", "moves.line": isState, "moves.loyalty": isStores, "moves.memberships": isStores, "moves.plans": isIdentity, "moves.started_by": isStores, "moves.status": isState,
	"move_files.content": "removed as a whole when any customer is erased; what was read of it is in move_items",
	"move_items.code":    isState, "move_items.currency": isState, "move_items.findings": "what of a contract is not carried over, in the service's words", "move_items.fit": isState, "move_items.line": isState,
	"move_parts.findings": "what of a part is not carried over, in the service's words", "move_parts.fit": isState, "move_parts.line": isState, "move_parts.plans": isIdentity,
	"move_orders.currency": isState, "move_orders.text": "how an order differs, in the service's words", "move_orders.verdict": isState,
	"one_offs.handle": isStores, "one_offs.image": isStores, "one_offs.product_handle": isStores,
	"partner_calls.app": isStores, "partner_connections.app": isStores, "partner_connections.call_id": isIdentity, "partner_connections.client_state": isStores,
	"partner_connections.code_hash": isSecret, "partner_connections.decided_by": isStores, "partner_connections.direction": isState, "partner_connections.end_reason": isStores,
	"partner_connections.failure": isStores, "partner_connections.notification": isState, "partner_connections.requested_by": isStores, "partner_connections.return_url": isStores,
	"partner_connections.scopes": isStores, "partner_connections.state": isState, "partner_connections.wanted": isStores,
	"plan_groups.line": isState, "plan_groups.name": isStores, "plan_groups.pending": isStores, "plan_groups.state": isState, "plan_groups.terms": isStores,
	"plan_items.kind": isState, "plan_items.title": isStores, "plan_options.terms": isStores, "removed_plan_options.terms": isStores,
	"platform_connections.access_token": isSecret, "platform_connections.app": isStores, "platform_connections.asked": isStores, "platform_connections.holder": isIdentity,
	"platform_connections.previous_token": isSecret, "platform_connections.refresh_token": isSecret, "platform_connections.refused": "why the platform refuses a token, in the service's words",
	"platform_connections.scopes": isStores,
	"portal_links.hash":           isSecret, "portal_sessions.hash": isSecret, "portal_throttles.subject": isSecret, "portal_throttles.times": isState,
	"portal_designs.design": isStores, "portal_logos.hash": isStores, "portal_logos.picture": isStores,
	"portal_texts.form": isState, "portal_texts.language": isStores, "portal_texts.text_key": isStores, "portal_texts.words": isStores,
	"privacy_requests.kind": isState,
	"search_terms.kind":     isState, "search_terms.term": isCopy, "search_versions.line": isState,
	"suppressions.address_hash": isSecret, "suppressions.hint": "a masked address; erased with the e-mails to it", "suppressions.reason": isState, "suppressions.source": isState,
	"swap_rules.destinations": isStores, "swap_rules.discount": isStores, "swap_rules.line": isState, "swap_rules.name": isStores, "swap_rules.sources": isStores, "swap_rules.variants": isStores,
	"unread_contracts.reason":     "why a contract cannot be read, in the service's words",
	"webhook_deliveries.response": isStores, "webhook_deliveries.error": isStores, "webhook_deliveries.message_id": isIdentity, "webhook_deliveries.status": isState, "webhook_deliveries.type": isState,
	"webhook_endpoints.old_secret": isSecret, "webhook_endpoints.reason": isStores, "webhook_endpoints.secret": isSecret, "webhook_endpoints.types": isStores, "webhook_endpoints.url": isStores,
	"webhook_messages.body": "a sealed copy of a contract or member, kept for 30 days; erased with it", "webhook_messages.cause_by": "a copy of activity.actor, kept for 30 days", "webhook_messages.cause_source": isState, "webhook_messages.id": isIdentity, "webhook_messages.line": isState, "webhook_messages.type": isState,
}
