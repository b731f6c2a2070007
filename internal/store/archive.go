package store

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/moving/archive"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/support"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

var _ archive.Tx = (*Tx)(nil)

// Archive returns the store of archives.
func (db *DB) Archive() archive.Store {
	return archiveStore{readScope(db, func(tx *Tx) archive.Tx { return tx }, func(tx *Tx) archive.ReadTx { return tx }), db.Shops()}
}

type archiveStore struct {
	ReadScope[archive.Tx, archive.ReadTx]
	Shops
}

// importRow is a row of archive_imports.
type importRow struct {
	bun.BaseModel `bun:"table:archive_imports,alias:i"`

	ShopID  int64  `bun:"shop_id,pk"`
	Archive string `bun:"archive,pk"`
	Type    string `bun:"type,pk"`
	Records int64
	BeganAt int64
	EndedAt int64
}

func (r *importRow) Columns(m *mapping, s *archive.Step) {
	m.shop(&r.ShopID)
	mapText(m, &r.Archive, &s.Digest)
	mapText(m, &r.Type, &s.Of)
	mapInt(m, &r.Records, &s.Records)
	mapTime(m, &r.BeganAt, &s.Began)
	mapTime(m, &r.EndedAt, &s.Ended)
}

// ImportSteps returns the steps of the shop's import.
func (tx *Tx) ImportSteps(ctx context.Context) ([]archive.Step, error) {
	var rows []importRow
	if err := tx.q.NewSelect().Model(&rows).Where("i.shop_id = ?", tx.of).Order("i.archive", "i.type").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the import: %w", err)
	}
	return readRows[archive.Step](rows)
}

// AddImportStep notes a step.
func (tx *Tx) AddImportStep(ctx context.Context, s archive.Step) error {
	rows, err := rowsOf[importRow](tx.of, s)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, rows, "")
	if tx.db.engine.duplicate(err) {
		return fault.Because(fault.Conflict, err, "another process imports an archive into the store").Entity("archive").Code("changedMeanwhile")
	}
	return err
}

// EndImport notes the end of the import.
func (tx *Tx) EndImport(ctx context.Context, s archive.Step) error {
	_, err := tx.q.NewUpdate().Model((*importRow)(nil)).Set("records = ?", s.Records).Set("ended_at = ?", millis(s.Ended)).
		Where("i.shop_id = ?", tx.of).Where("i.archive = ?", s.Digest).Where("i.type = ''").Exec(ctx)
	if err != nil {
		return fmt.Errorf("end the import: %w", err)
	}
	return nil
}

// ReserveNumbers makes all numbers that are taken from now on greater than highest. This process
// drops those that it has at hand.
func (s Shops) ReserveNumbers(ctx context.Context, highest int64) (given int64, err error) {
	err = s.db.updateShared(ctx, func(tx *Tx) error {
		if given, err = tx.block(ctx, "row", 0); err != nil {
			return err
		}
		_, err = tx.block(ctx, "row", int(max(0, highest+1-given)))
		return err
	})
	if err == nil {
		s.db.ids.drop()
	}
	return given, err
}

// archiveTable says where the records of a type are.
type archiveTable struct {
	name string
	// columns of fields whose names differ, by field.
	columns map[string]string
	// nullable are number fields whose 0 is NULL.
	nullable []string
	// rest are the columns that are no field, with the int64, text or truth value that an import
	// writes; nil is NULL.
	rest map[string]any
	// folded are columns with another one in lower case.
	folded map[string]string
	// check fails when records could not be read; nil: each can.
	check func(db *DB, a archiveTable, t archive.Type, list []archive.Record) error
	// added is called with the records that were inserted.
	added func(tx *Tx, ctx context.Context, t archive.Type, list []archive.Record) error
}

// Numbers that an import writes.
const (
	firstVersion = int64(1) // version of a row
	zeroNumber   = int64(0)
)

var archiveTables = map[string]archiveTable{
	"shop":               {name: "shops"},
	"planGroups":         {name: "plan_groups", check: checkRecords[planGroupRow, plan.Group], rest: map[string]any{"version": firstVersion}},
	"planOptions":        {name: "plan_options", check: checkRecords[planOptionRow, plan.Option]},
	"removedPlanOptions": {name: "removed_plan_options"},
	"planItems":          {name: "plan_items"},
	"deliveryProfiles":   {name: "delivery_profiles", check: checkRecords[deliveryRow, delivery.Profile], nullable: []string{"platformId"}, rest: map[string]any{"version": firstVersion, "busy_until": zeroNumber}},
	"bundles":            {name: "bundles", check: checkRecords[bundleRow, bundle.Settings], rest: map[string]any{"version": firstVersion}},
	"swapRules":          {name: "swap_rules", check: checkRecords[swapRow, swap.Rule], rest: map[string]any{"version": firstVersion}},
	"contracts": {
		name: "contracts", check: checkRecords[contractRow, contract.Contract], added: (*Tx).indexContracts,
		rest: map[string]any{
			"version": firstVersion, "changing_until": zeroNumber, // a lease
			// indexContracts computes them.
			"email_folded": "", "name_folded": "", "order_amount": zeroNumber, "dunning_class": "", "notify_at": nil, "remind_at": nil, "card_remind_at": nil,
		},
	},
	"attempts":            {name: "attempts", check: checkRecords[attemptRow, billing.Attempt], rest: map[string]any{"version": firstVersion, "publish_lease_until": zeroNumber, "expected": zeroNumber}, added: (*Tx).indexAttempts},
	"chargeRequests":      {name: "charge_requests"},
	"cardTries":           {name: "card_tries"},
	"oneOffs":             {name: "one_offs", check: checkRecords[oneOffRow, billing.OneOff], rest: map[string]any{"version": firstVersion}},
	"swapUses":            {name: "swap_uses"},
	"swapNotices":         {name: "swap_notices"},
	"annotations":         {name: "annotations", check: checkRecords[annotationRow, billing.Annotation], rest: map[string]any{"version": firstVersion}},
	"comments":            {name: "contract_comments", check: checkRecords[commentRow, support.Comment]},
	"cancelFlows":         {name: "cancel_flows", check: checkRecords[cancelFlowRow, flow.Flow]},
	"cancelSessions":      {name: "cancel_sessions", check: checkRecords[cancelSessionRow, session.Session], rest: map[string]any{"version": firstVersion}},
	"retentionActivities": {name: "retention_activities"},
	"loyaltyProgram":      {name: "loyalty_programs", check: checkRecords[programRow, loyalty.Program], rest: map[string]any{"version": firstVersion}},
	"members":             {name: "loyalty_accounts", check: checkRecords[memberRow, loyalty.Account], rest: map[string]any{"version": firstVersion}, folded: map[string]string{"email_folded": "email"}},
	"points":              {name: "loyalty_entries", check: checkRecords[pointRow, loyalty.Entry]},
	"pointUses":           {name: "loyalty_uses"},
	"lots":                {name: "loyalty_lots", check: checkRecords[lotRow, loyalty.Lot]},
	"loyaltyFacts":        {name: "loyalty_facts"},
	"rewards":             {name: "loyalty_rewards", check: checkRecords[rewardRow, loyalty.Reward], rest: map[string]any{"version": firstVersion}},
	"credits":             {name: "loyalty_credits", check: checkRecords[creditRow, loyalty.Credit]},
	"portalSettings":      {name: "portal_settings", check: checkRecords[portalSettingsRow, portal.Settings], rest: map[string]any{"version": firstVersion, "account_secret": ""}},
	"portalDesign":        {name: "portal_designs", check: checkRecords[portalDesignRow, design.Design], rest: map[string]any{"version": firstVersion}},
	"portalLogos":         {name: "portal_logos", check: checkRecords[portalLogoRow, design.Picture]},
	"portalTexts":         {name: "portal_texts"},
	"portalPreferences":   {name: "portal_preferences", rest: map[string]any{"version": firstVersion}},
	"smsConsents":         {name: "sms_consents", check: checkRecords[smsConsentRow, optin.Consent]},
	"suppressions":        {name: "suppressions", check: checkRecords[suppressionRow, notify.Suppression]},
	"mailTemplates":       {name: "mail_templates", check: checkRecords[mailTemplateRow, mailtemplate.Template]},
	"webhookEndpoints": {
		name: "webhook_endpoints",
		rest: map[string]any{
			// Without the secret, receivers could not tell that messages are the service's.
			"enabled": false, "reason": "It was imported without its secret: rotate the secret, and enable it.", "failing_since": zeroNumber,
			"secret": "", "old_secret": "", "old_secret_until": zeroNumber, "version": firstVersion, "replay_at": zeroNumber, "replay_id": zeroNumber, "replay_until": zeroNumber,
		},
	},
	"contractHistory": {name: "contract_history", added: (*Tx).continueHistory},
	"orderOutcomes":   {name: "order_outcomes"},
	"activity":        {name: "activity"},
}

// column returns the column of a field: a_name for aName.
func (a archiveTable) column(field string) string {
	if c, ok := a.columns[field]; ok {
		return c
	}
	var b strings.Builder
	for _, r := range field {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// of returns the condition of the shop's rows.
func (a archiveTable) of(id shop.ID) string {
	column := "shop_id"
	if a.name == "shops" {
		column = "id"
	}
	return fmt.Sprintf("%s = %d", column, id)
}

// aboutShop are the types of entity that have the shop's own id as their number. Another installation
// gives it another one, so that archives have 0.
var aboutShop = []activity.EntityType{activity.EntityShopInfo, activity.EntityCustomerPortalSettings, activity.EntityEmailTemplate}

// ArchiveRecords returns records of a type, in the order of their key.
func (tx *Tx) ArchiveRecords(ctx context.Context, t archive.Type, after archive.Record, limit int) ([]archive.Record, error) {
	table := archiveTables[t.Name]
	columns := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		columns[i] = table.column(f.Name)
	}
	where, args := table.of(tx.of), []any{}
	if after != nil {
		marks := strings.TrimSuffix(strings.Repeat("?, ", t.Key), ", ")
		where += " AND (" + strings.Join(columns[:t.Key], ", ") + ") > (" + marks + ")"
		for i := range t.Key {
			args = append(args, columnValue(after[i]))
		}
	}
	query := "SELECT " + strings.Join(columns, ", ") + " FROM " + table.name + " WHERE " + where + " ORDER BY " + strings.Join(columns[:t.Key], ", ") + fmt.Sprintf(" LIMIT %d", limit)
	var rows []map[string]any
	if err := tx.q.NewRaw(query, args...).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read %s: %w", table.name, err)
	}
	list := make([]archive.Record, len(rows))
	for i, row := range rows {
		list[i] = make(archive.Record, len(t.Fields))
		for n, f := range t.Fields {
			v, err := recordValue(f, row[columns[n]])
			if err != nil {
				return nil, fmt.Errorf("read %s.%s: %w", table.name, columns[n], err)
			}
			list[i][n] = v
		}
		tx.hideShop(t, list[i])
	}
	return list, nil
}

// hideShop takes the shop's own id out of an entry of the log.
func (tx *Tx) hideShop(t archive.Type, r archive.Record) {
	if t.Name == "activity" && r[1] == int64(tx.of) && slices.Contains(aboutShop, activity.EntityType(r[2].(string))) {
		r[1] = int64(0)
	}
}

// showShop is the reverse of hideShop.
func (tx *Tx) showShop(t archive.Type, r archive.Record) {
	if t.Name == "activity" && r[1] == int64(0) && slices.Contains(aboutShop, activity.EntityType(r[2].(string))) {
		r[1] = int64(tx.of)
	}
}

// recordValue returns what a record has for a value of the database.
func recordValue(f archive.Field, v any) (any, error) {
	if b, ok := v.([]byte); ok {
		v = string(b)
	}
	n, whole := v.(int64)
	text, isText := v.(string)
	truth, isTruth := v.(bool)
	switch {
	case v == nil && f.Kind == archive.Due:
		return nil, nil
	case v == nil && f.Kind == archive.Number:
		return int64(0), nil
	case whole && (f.Kind == archive.At && n == 0):
		return nil, nil
	case whole && (f.Kind == archive.At || f.Kind == archive.Due):
		return time.UnixMilli(n).UTC(), nil
	case whole && f.Kind == archive.Truth:
		return n != 0, nil
	case whole && (f.Kind == archive.Number || f.Kind == archive.Own), isTruth && f.Kind == archive.Truth, isText && f.Kind == archive.Text:
		if isTruth {
			return truth, nil
		}
		return v, nil
	case isText && f.Kind == archive.JSON && text == "":
		return nil, nil
	case isText && f.Kind == archive.JSON:
		return archive.Document(text), nil
	}
	return nil, fault.New(fault.Internal, "a %T is no %s", v, f.Kind)
}

// columnValue is the reverse of recordValue.
func columnValue(v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.UnixMilli()
	case archive.Document:
		return string(v)
	}
	return v
}

// ArchiveCount returns how many records of a type the shop has, up to limit.
func (tx *Tx) ArchiveCount(ctx context.Context, t archive.Type, limit int) (int, error) {
	table := archiveTables[t.Name]
	var n int
	query := "SELECT COUNT(*) FROM (SELECT 1 FROM " + table.name + " WHERE " + table.of(tx.of) + fmt.Sprintf(" LIMIT %d) AS found", limit)
	if err := tx.q.NewRaw(query).Scan(ctx, &n); err != nil {
		return 0, fmt.Errorf("count %s: %w", table.name, err)
	}
	return n, nil
}

// goType returns the type of a field in a row that is inserted.
func goType(k archive.Kind) (reflect.Type, columnKind) {
	switch k {
	case archive.Truth:
		return reflect.TypeFor[bool](), flag
	case archive.Text, archive.JSON:
		return reflect.TypeFor[string](), text
	}
	return reflect.TypeFor[int64](), whole
}
