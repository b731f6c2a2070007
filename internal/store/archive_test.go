package store

import (
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/moving/archive"
)

// allColumns lists the columns of the shops and of the tables that belong to them.
const allColumns = `SELECT t.name || '.' || c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'
	AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE 'search_parts%'
	AND (t.name = 'shops' OR EXISTS (SELECT 1 FROM pragma_table_info(t.name) AS s WHERE s.name = 'shop_id')) ORDER BY 1`

// The reasons why something is in no archive.
const (
	isComputed     = "computed from what is archived, by the import or the figures"
	isInstallation = "of this installation: its connection to the platform, its processes, its guards"
	isSigningIn    = "keys, tokens, passwords and sessions, which no archive has"
	isUsers        = "of users of the dashboard, who belong to the installation"
	isPassing      = "kept for days or until it is done; what came of it is archived"
)

// notArchived are the tables, and columns, that no archive has, each with the reason.
var notArchived = map[string]string{
	"shops.id": isInstallation, "shops.platform_id": isInstallation, "shops.token": isSigningIn, "shops.connected": isInstallation, "shops.subscribe_error": isInstallation,
	"shops.catalogue": isComputed, "repricings": isComputed, "shops.reconciled_at": isInstallation, "shops.reconcile_at": isInstallation, "shops.reading": isInstallation, "shops.frozen_at": isInstallation,
	"shops.confirm_by": isInstallation, "shops.held_until": isInstallation, "shops.check_at": isInstallation, "shops.guard": isInstallation, "shops.created_at": isInstallation,
	"shops.version": isInstallation, "shops.awaits_merchant": isInstallation,

	"charge_stats": isInstallation, "findings": isInstallation, "first_syncs": isInstallation, "inbox": isInstallation, "platform_connections": isInstallation, "rate_buckets": isInstallation,
	"unread_contracts": isInstallation, "webhook_signatures": isInstallation, "archive_imports": isInstallation, "setup_marks": isInstallation,
	"api_keys": isSigningIn, "partner_connections": isSigningIn, "portal_account_sign_ins": isSigningIn, "portal_links": isSigningIn, "portal_sessions": isSigningIn,
	"shop_staff": isUsers, "staff_invitations": isUsers, "saved_views": isUsers,
	"moves": isPassing, "move_files": isPassing, "move_items": isPassing, "move_orders": isPassing, "move_parts": isPassing,
	"api_requests": isPassing, "bulk_items": isPassing, "bulk_jobs": isPassing, "contract_creations": isPassing, "idempotency_keys": isPassing, "loyalty_requests": isPassing,
	"partner_calls": isPassing, "portal_throttles": isPassing, "privacy_requests": "requests that the platform made of this installation, and their deadlines", "event_feeds": isPassing,
	"messages": "e-mails that were sent, or wait: an import must send none", "webhook_deliveries": isPassing, "webhook_messages": isPassing, "webhook_sequences": isPassing,
	"amount_counts": isComputed, "analytics_state": isComputed, "churn_months": isComputed, "cohort_months": isComputed, "contract_counts": isComputed, "contract_facets": isComputed,
	"contract_lines": isComputed, "customer_counts": isComputed, "cycle_days": isComputed, "failure_days": isComputed, "metric_days": isComputed, "queue_quarters": isComputed,
	"search_terms": isComputed, "search_versions": isComputed, "swap_rules.variants": "what the platform sells, which is read again", "subscriber_days": isComputed, "subscriber_holdings": isComputed, "subscribers": isComputed,
}

// archivedColumns returns the columns that a type or its table says something of.
func archivedColumns() map[string]bool {
	known := make(map[string]bool)
	for _, t := range archive.Types {
		table := archiveTables[t.Name]
		known[table.name+".shop_id"] = true
		for _, f := range t.Fields {
			known[table.name+"."+table.column(f.Name)] = true
		}
		for name := range table.rest {
			known[table.name+"."+name] = true
		}
		for name := range table.folded {
			known[table.name+"."+name] = true
		}
	}
	return known
}

// archiveGaps returns what is said neither to be archived nor why not.
func archiveGaps(columns []string) (gaps []string) {
	known, used := archivedColumns(), make(map[string]bool)
	for _, c := range columns {
		table, _, _ := strings.Cut(c, ".")
		_, whole := notArchived[table]
		_, part := notArchived[c]
		used[table], used[c] = true, true
		switch {
		case known[c] && (whole || part):
			gaps = append(gaps, c+" is archived, and is said not to be")
		case !known[c] && !whole && !part:
			gaps = append(gaps, c+" is new: add it to a type of internal/domain/moving/archive, or to rest of its table, or say in notArchived why no archive has it")
		}
	}
	for name := range known {
		if !slices.Contains(columns, name) && name != "shops.shop_id" {
			gaps = append(gaps, name+" is archived, and not in the schema")
		}
	}
	for name := range notArchived {
		if !used[name] && name != "rate_buckets" { // PostgreSQL's alone
			gaps = append(gaps, name+" is in notArchived, and not in the schema")
		}
	}
	return gaps
}

func TestEveryColumnIsArchivedOrSaidNotToBe(t *testing.T) {
	t.Parallel()
	columns := schemaColumns(t, allColumns)
	if len(columns) < 600 {
		t.Fatalf("only %d columns were found", len(columns))
	}
	for _, gap := range archiveGaps(columns) {
		t.Error(gap)
	}
	if gaps := archiveGaps(append(columns, "contracts.nickname")); len(gaps) != 1 || !strings.HasPrefix(gaps[0], "contracts.nickname is new") {
		t.Errorf("a new column is reported as %q", gaps)
	}
	if len(archiveTables) != len(archive.Types) {
		t.Errorf("%d types have a table, of %d", len(archiveTables), len(archive.Types))
	}
}
