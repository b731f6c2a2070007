package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// suppressionRow is a row of suppressions.
type suppressionRow struct {
	bun.BaseModel `bun:"table:suppressions,alias:s"`

	ShopID      int64  `bun:"shop_id,pk"`
	AddressHash string `bun:"address_hash,pk"`
	Hint        string
	Reason      string
	Source      string
	At          int64
}

func (r *suppressionRow) Columns(m *mapping, s *notify.Suppression) {
	m.shop(&r.ShopID)
	mapText(m, &r.AddressHash, &s.Hash)
	mapText(m, &r.Hint, &s.Hint)
	mapText(m, &r.Reason, &s.Reason)
	mapText(m, &r.Source, &s.Source)
	mapTime(m, &r.At, &s.At)
}

// Suppressed returns the suppressions among addresses, by address.
func (tx *Tx) Suppressed(ctx context.Context, addresses []string) (map[string]notify.Suppression, error) {
	return suppressed(ctx, tx.q, tx.of, addresses)
}

func suppressed(ctx context.Context, q bun.IDB, of shop.ID, addresses []string) (map[string]notify.Suppression, error) {
	if len(addresses) == 0 {
		return nil, nil
	}
	hashes := make([]string, len(addresses))
	for i, address := range addresses {
		hashes[i] = notify.AddressHash(address)
	}
	var rows []suppressionRow
	if err := q.NewSelect().Model(&rows).Where("s.shop_id = ?", of).Where("s.address_hash IN (?)", bun.List(hashes)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("find suppressions among %d addresses: %w", len(addresses), err)
	}
	list, err := readRows[notify.Suppression](rows)
	found := make(map[string]notify.Suppression, len(list))
	for _, s := range list {
		for i, hash := range hashes {
			if hash == s.Hash {
				found[addresses[i]] = s
			}
		}
	}
	return found, err
}

// PutSuppression adds a suppression. One that there is stays, but a complaint takes the place of a
// bounce.
func (tx *Tx) PutSuppression(ctx context.Context, s notify.Suppression) error {
	rows, err := rowsOf[suppressionRow](tx.of, s)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, rows, `ON CONFLICT (shop_id, address_hash) DO UPDATE SET hint = EXCLUDED.hint, reason = EXCLUDED.reason, source = EXCLUDED.source, at = EXCLUDED.at
		WHERE suppressions.reason <> '`+string(notify.Complaint)+`' AND EXCLUDED.reason = '`+string(notify.Complaint)+`'`)
	return err
}

// MailedAs returns the messages that one letter reported, locked.
func (tx *Tx) MailedAs(ctx context.Context, mailID string) ([]notify.Message, error) {
	var rows []messageRow
	q := tx.q.NewSelect().Model(&rows).Where("m.shop_id = ?", tx.of).Where("m.mail_id = ?", mailID).Where("m.mail_id <> ''").Order("m.id")
	if err := tx.locked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the messages of a letter: %w", err)
	}
	return tx.messages(rows)
}

// notifyStore is the store of messages.
type notifyStore struct{ Scope[notify.Tx] }

// ShopOfMail returns the shop that has sent a letter, or NotFound.
func (s notifyStore) ShopOfMail(ctx context.Context, mailID string) (shop.ID, error) {
	var of int64
	err := s.db.acrossShops().NewSelect().TableExpr("messages AS m").Column("m.shop_id").Where("m.mail_id = ?", mailID).Where("m.mail_id <> ''").Limit(1).Scan(ctx, &of)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fault.New(fault.NotFound, "no e-mail was sent under this Message-ID").Entity("mail").Code("mailUnknown")
	}
	if err != nil {
		return 0, fmt.Errorf("find the shop of a letter: %w", err)
	}
	return shop.ID(of), nil
}

// SuppressedAddresses says which of addresses get no e-mails any more.
func (db *DB) SuppressedAddresses(ctx context.Context, of shop.ID, addresses []string) (map[string]bool, error) {
	found, err := suppressed(ctx, db.in(of), of, addresses)
	gone := make(map[string]bool, len(found))
	for address := range found {
		gone[address] = true
	}
	return gone, err
}

// Suppressions returns the addresses to which a shop sends no e-mails, newest first, at most limit.
func (db *DB) Suppressions(ctx context.Context, of shop.ID, limit int) ([]notify.Suppression, error) {
	var rows []suppressionRow
	if err := db.in(of).NewSelect().Model(&rows).Where("s.shop_id = ?", of).Order("s.at DESC", "s.address_hash").Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("list the suppressed addresses: %w", err)
	}
	return readRows[notify.Suppression](rows)
}

// LiftSuppression has e-mails sent to an address again. A complaint stays, and is a Conflict.
func (tx *Tx) LiftSuppression(ctx context.Context, hash string) error {
	result, err := tx.q.NewDelete().Model((*suppressionRow)(nil)).Where("s.shop_id = ?", tx.of).Where("s.address_hash = ?", hash).Where("s.reason <> ?", notify.Complaint).Exec(ctx)
	if err != nil {
		return fmt.Errorf("lift a suppression: %w", err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, fault.New(fault.Conflict, "the address is not suppressed, or its reader has complained").Entity("mail").Code("suppressionStays"))
	}
	return nil
}
