package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
)

// ContractsOfCustomer returns the ids of a customer's contracts, of both lines.
func (tx *Tx) ContractsOfCustomer(ctx context.Context, customer int64) ([]contract.ID, error) {
	var ids []contract.ID
	err := tx.q.NewSelect().Model((*contractRow)(nil)).Column("id").Where("c.shop_id = ?", tx.of).Where("c.customer_id = ?", customer).
		OrderExpr(tx.dialect().unindexed+"c.id").Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("find the contracts of customer %d: %w", customer, err)
	}
	return ids, nil
}

// CustomersAfter returns at most limit customers who have contracts or points, by number,
// after one.
func (tx *Tx) CustomersAfter(ctx context.Context, after int64, limit int) ([]int64, error) {
	var list []int64
	buyers := tx.q.NewSelect().Model((*contractRow)(nil)).Column("customer_id").Where("c.shop_id = ?", tx.of).Where("c.customer_id > ?", after)
	members := tx.q.NewSelect().Model((*memberRow)(nil)).Column("customer_id").Where("m.shop_id = ?", tx.of).Where("m.customer_id > ?", after)
	err := tx.q.NewSelect().TableExpr("(?) AS p", buyers.Union(members)).Column("customer_id").Order("customer_id").Limit(int64(limit)).Scan(ctx, &list)
	if err != nil {
		return nil, fmt.Errorf("list customers: %w", err)
	}
	return list, nil
}

// Redact erases who a customer is, and what they said, from everything but their
// contracts, which are given as they are until then. Who is in their portal is out.
func (tx *Tx) Redact(ctx context.Context, customer int64, contracts []contract.Contract) error {
	of := make([]contract.ID, len(contracts))
	for i, c := range contracts {
		of[i] = c.ID
	}
	if err := tx.redactEntries(ctx, customer, of, contracts); err != nil {
		return err
	}
	if err := tx.putOut(ctx, customer); err != nil {
		return err
	}
	if err := tx.redactMails(ctx, customer, contracts); err != nil {
		return err
	}
	if err := tx.removeMoveFiles(ctx); err != nil {
		return err
	}
	for _, erase := range []struct {
		query string // that begins with the shop
		by    any
	}{
		{`UPDATE retention_activities SET reason = '', info = '' WHERE shop_id = ? AND customer_id = ?`, customer},
		{`UPDATE cancel_sessions SET comment = '', version = version + 1 WHERE shop_id = ? AND customer_id = ?`, customer},
		{`UPDATE loyalty_accounts SET email = '', email_folded = '', first_name = '', last_name = '', born = '', version = version + 1 WHERE shop_id = ? AND customer_id = ?`, customer},
		{`UPDATE attempts SET note = '', version = version + 1 WHERE shop_id = ? AND contract_id IN (?) AND note <> ''`, bun.List(of)},
		{`UPDATE move_items SET contract = '', products = '', customer_id = 0 WHERE shop_id = ? AND customer_id = ? AND stage IN ('SHADOW', 'STAYING')`, customer},
		{`DELETE FROM move_parts WHERE shop_id = ? AND customer_id = ?`, customer},
		{`DELETE FROM portal_preferences WHERE shop_id = ? AND customer_id = ?`, customer},
		{`DELETE FROM sms_consents WHERE shop_id = ? AND customer_id = ?`, customer},
		{`DELETE FROM contract_comments WHERE shop_id = ? AND contract_id IN (?)`, bun.List(of)},
		{`UPDATE annotations SET note = '', version = version + 1 WHERE shop_id = ? AND contract_id IN (?) AND note <> ''`, bun.List(of)},
		{eraseMessages + `contract_id IN (?)`, bun.List(of)},
		{eraseMessages + `customer_id = ? AND contract_id = 0 AND customer_id <> 0`, customer},
		{`UPDATE webhook_messages SET body = '' WHERE shop_id = ? AND customer_id = ?`, customer}, // written again when needed
		{`UPDATE webhook_messages SET body = '' WHERE shop_id = ? AND contract_id IN (?)`, bun.List(of)},
	} {
		if _, err := tx.q.NewRaw(erase.query, int64(tx.of), erase.by).Exec(ctx); err != nil {
			return fmt.Errorf("erase customer %d: %w", customer, err)
		}
	}
	return nil
}

// redactMails erases the e-mails to the addresses of a customer, whether they are about a
// contract or not.
func (tx *Tx) redactMails(ctx context.Context, customer int64, contracts []contract.Contract) error {
	var addresses []string
	err := tx.q.NewSelect().Model((*memberRow)(nil)).Column("email").Where("m.shop_id = ?", tx.of).Where("m.customer_id = ?", customer).Scan(ctx, &addresses)
	if err != nil {
		return fmt.Errorf("read the addresses of customer %d: %w", customer, err)
	}
	for _, c := range contracts {
		addresses = append(addresses, c.Customer.Email)
	}
	slices.Sort(addresses)
	for _, address := range slices.Compact(addresses) {
		if address == "" {
			continue
		}
		if err := tx.RedactMailsTo(ctx, address); err != nil {
			return err
		}
	}
	return nil
}

// eraseMessages erases the recipient and the words of a shop's messages; which ones follows. Those that
// wait are not sent.
const eraseMessages = `UPDATE messages SET recipient = '', subject = '', body = '', client_ip = '', last_error = '', delivery_error = '', version = version + 1,
	status = CASE WHEN due_at IS NULL THEN status ELSE '` + string(notify.Suppressed) + `' END, due_at = NULL WHERE shop_id = ? AND `

// RedactMailsTo erases the recipient and the words of the e-mails to an address. Those
// that wait are not sent. That the address is suppressed stays known, by its hash.
func (tx *Tx) RedactMailsTo(ctx context.Context, address string) error {
	_, err := tx.q.NewRaw("UPDATE suppressions SET hint = '' WHERE shop_id = ? AND address_hash = ?", int64(tx.of), notify.AddressHash(address)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("erase a suppressed address: %w", err)
	}
	_, err = tx.q.NewRaw(eraseMessages+"recipient = ?", int64(tx.of), clean(address)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("erase e-mails: %w", err)
	}
	return nil
}

// MergeCustomer lets a customer have what another one was and said, who is none any more. Who is
// in the portal of that one is out.
func (tx *Tx) MergeCustomer(ctx context.Context, gone, kept int64) error {
	if err := tx.putOut(ctx, gone); err != nil {
		return err
	}
	for _, table := range []string{"retention_activities", "cancel_sessions", "webhook_messages"} { // erased by customer
		_, err := tx.q.NewRaw("UPDATE "+table+" SET customer_id = ? WHERE shop_id = ? AND customer_id = ?", kept, int64(tx.of), gone).Exec(ctx)
		if err != nil {
			return fmt.Errorf("let customer %d have the %s of customer %d: %w", kept, table, gone, err)
		}
	}
	if _, err := tx.q.NewRaw("UPDATE messages SET customer_id = ? WHERE shop_id = ? AND customer_id = ? AND due_at IS NOT NULL", kept, int64(tx.of), gone).Exec(ctx); err != nil {
		return fmt.Errorf("let customer %d have the messages that wait for customer %d: %w", kept, gone, err)
	}
	if _, err := tx.q.NewRaw("UPDATE messages SET customer_id = ? WHERE shop_id = ? AND customer_id = ? AND contract_id = 0 AND customer_id <> 0", kept, int64(tx.of), gone).Exec(ctx); err != nil {
		return fmt.Errorf("let customer %d have the messages to customer %d: %w", kept, gone, err)
	}
	if err := tx.moveConsents(ctx, gone, kept); err != nil {
		return err
	}
	return tx.movePreferences(ctx, gone, kept)
}

// movePreferences lets a customer have the preferences of another one, unless there are own ones.
func (tx *Tx) movePreferences(ctx context.Context, gone, kept int64) error {
	for _, query := range []string{
		`UPDATE portal_preferences SET customer_id = ?2 WHERE shop_id = ?0 AND customer_id = ?1
			AND NOT EXISTS (SELECT 1 FROM portal_preferences AS own WHERE own.shop_id = ?0 AND own.customer_id = ?2)`,
		`DELETE FROM portal_preferences WHERE shop_id = ?0 AND customer_id = ?1`,
	} {
		if _, err := tx.q.NewRaw(query, int64(tx.of), gone, kept).Exec(ctx); err != nil {
			return fmt.Errorf("let customer %d have the preferences of customer %d: %w", kept, gone, err)
		}
	}
	return nil
}

// moveConsents lets a customer have the consents of another one. One that holds gives way to an own
// one that does: it ended when both held.
func (tx *Tx) moveConsents(ctx context.Context, gone, kept int64) error {
	for _, query := range []string{
		`UPDATE sms_consents SET ended_by = '` + string(optin.ByReplacement) + `', ended_at = CASE WHEN own.given_at > sms_consents.given_at THEN own.given_at ELSE sms_consents.given_at END
			FROM sms_consents AS own WHERE sms_consents.shop_id = ?0 AND sms_consents.customer_id = ?1 AND sms_consents.ended_at = 0
			AND own.shop_id = ?0 AND own.customer_id = ?2 AND own.ended_at = 0`,
		`UPDATE sms_consents SET customer_id = ?2 WHERE shop_id = ?0 AND customer_id = ?1`,
	} {
		if _, err := tx.q.NewRaw(query, int64(tx.of), gone, kept).Exec(ctx); err != nil {
			return fmt.Errorf("let customer %d have the consents of customer %d: %w", kept, gone, err)
		}
	}
	return nil
}

// putOut ends a customer's visits to the portal, and takes the links to it away.
func (tx *Tx) putOut(ctx context.Context, customer int64) error {
	for _, query := range []string{
		`DELETE FROM portal_sessions WHERE shop_id = ? AND customer_id = ?`,
		`DELETE FROM portal_links WHERE shop_id = ? AND customer_id = ?`,
	} {
		if _, err := tx.q.NewRaw(query, int64(tx.of), customer).Exec(ctx); err != nil {
			return fmt.Errorf("put customer %d out: %w", customer, err)
		}
	}
	return nil
}

// words are the fields of an entry's information that hold what people wrote.
var words = []string{"cancellationFeedback", "cancellationNote", "cancellationReason", "pauseReason"}

// redactEntries erases from entries where customers were and what they said, and every
// text in which their addresses stand.
func (tx *Tx) redactEntries(ctx context.Context, customer int64, of []contract.ID, contracts []contract.Contract) error {
	attempts := tx.q.NewSelect().TableExpr("attempts AS a").Column("a.id").Where("a.shop_id = ?", tx.of).Where("a.contract_id IN (?)", bun.List(of))
	said := tx.q.NewSelect().TableExpr("retention_activities AS r").Column("r.id").Where("r.shop_id = ?", tx.of).Where("r.customer_id = ?", customer)
	var rows []entryRow
	err := tx.q.NewSelect().Model(&rows).Where("e.shop_id = ?", tx.of).WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.WhereOr("e.entity_type = ? AND e.entity_id IN (?)", activity.EntitySubscriptionContractDetails, bun.List(of)).
			WhereOr("e.entity_type = ? AND e.entity_id IN (?)", activity.EntitySubscriptionBillingAttempt, attempts).
			WhereOr("e.entity_type = ? AND e.entity_id IN (?)", activity.EntityCancellationManagement, said)
	}).Scan(ctx)
	if err != nil {
		return fmt.Errorf("read the entries about customer %d: %w", customer, err)
	}
	for _, r := range rows {
		info, ip := redacted(r.Info, contracts), r.ClientIP
		if r.Source == string(activity.CustomerPortal) {
			ip = ""
		}
		if info == r.Info && ip == r.ClientIP {
			continue
		}
		_, err := tx.q.NewUpdate().Model((*entryRow)(nil)).Set("info = ?", info).Set("client_ip = ?", ip).Where("shop_id = ?", tx.of).Where("id = ?", r.ID).Exec(ctx)
		if err != nil {
			return fmt.Errorf("erase from entry %d: %w", r.ID, err)
		}
	}
	return nil
}

// redacted returns an entry's information without what people wrote, and without texts that
// name the customer of one of the contracts.
func redacted(info string, contracts []contract.Contract) string {
	var told map[string]any
	if json.Unmarshal([]byte(info), &told) != nil {
		return info
	}
	kept := maps.Clone(told)
	maps.DeleteFunc(kept, func(key string, value any) bool {
		text, is := value.(string)
		return is && (slices.Contains(words, key) || holds(text, contracts))
	})
	if len(kept) == len(told) {
		return info
	}
	return activity.Details(kept)
}

// holds reports whether a text has an address or the whole name of a contract's customer.
func holds(text string, contracts []contract.Contract) bool {
	for _, c := range contracts {
		for _, own := range []string{c.Customer.Email, c.Customer.Phone, c.Customer.Name} {
			if own != "" && strings.Contains(strings.ToLower(text), strings.ToLower(own)) {
				return true
			}
		}
	}
	return false
}
