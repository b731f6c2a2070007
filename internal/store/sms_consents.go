package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ optin.Tx = (*Tx)(nil)

// SMSConsents returns the store of the customers' agreements to SMS.
func (db *DB) SMSConsents() optin.Store {
	return readScope(db, func(tx *Tx) optin.Tx { return tx }, func(tx *Tx) optin.ReadTx { return tx })
}

// smsConsentRow is a row of sms_consents.
type smsConsentRow struct {
	bun.BaseModel `bun:"table:sms_consents,alias:k"`

	ShopID     int64 `bun:"shop_id,pk"`
	ID         int64 `bun:"id,pk"`
	CustomerID int64
	Phone      string
	Source     string
	ClientIP   string `bun:"client_ip"`
	GivenAt    int64
	EndedAt    int64
	EndedBy    string
}

func (r *smsConsentRow) Columns(m *mapping, c *optin.Consent) {
	m.shop(&r.ShopID)
	mapSame(m, &r.ID, &c.ID)
	mapSame(m, &r.CustomerID, &c.Customer)
	mapText(m, &r.Phone, &c.Phone)
	mapText(m, &r.Source, &c.Source)
	mapText(m, &r.ClientIP, &c.ClientIP)
	mapTime(m, &r.GivenAt, &c.GivenAt)
	mapTime(m, &r.EndedAt, &c.EndedAt)
	mapText(m, &r.EndedBy, &c.EndedBy)
	m.within(r.ID)
}

// SMSConsents returns the last consent of each of some customers, by customer.
func (tx *Tx) SMSConsents(ctx context.Context, customers []int64) (map[int64]optin.Consent, error) {
	found := make(map[int64]optin.Consent)
	if len(customers) == 0 {
		return found, nil
	}
	list, err := tx.lastConsents(ctx, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("k.customer_id IN (?)", bun.List(customers)) })
	for _, c := range list {
		found[c.Customer] = c
	}
	return found, err
}

// ConsentsOfPhone returns the last consent for a phone number of each of its customers.
func (tx *Tx) ConsentsOfPhone(ctx context.Context, phone string) ([]optin.Consent, error) {
	return tx.lastConsents(ctx, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("k.phone = ?", clean(phone)) })
}

// lastConsents returns of the consents that narrow selects one of each customer: the one that holds,
// else the last. After a merge they may be two.
func (tx *Tx) lastConsents(ctx context.Context, narrow func(*bun.SelectQuery) *bun.SelectQuery) ([]optin.Consent, error) {
	last := narrow(tx.q.NewSelect().Model((*smsConsentRow)(nil)).ColumnExpr("COALESCE(MAX(CASE WHEN k.ended_at = 0 THEN k.id END), MAX(k.id))").Where("k.shop_id = ?", tx.of)).Group("k.customer_id")
	var rows []smsConsentRow
	if err := tx.q.NewSelect().Model(&rows).Where("k.shop_id = ?", tx.of).Where("k.id IN (?)", last).Order("k.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read consents to SMS: %w", err)
	}
	return readRows[optin.Consent](rows)
}

// AddSMSConsent adds a consent that holds and gives it a number.
func (tx *Tx) AddSMSConsent(ctx context.Context, c *optin.Consent) error {
	id, err := tx.db.ids.take(1)
	if err != nil {
		return err
	}
	c.ID = id
	row, err := rowOf[smsConsentRow](tx.of, *c)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, []smsConsentRow{row}, "")
	return err
}

// EndSMSConsent ends the consent of a customer that holds, if there is one.
func (tx *Tx) EndSMSConsent(ctx context.Context, customer int64, at time.Time, by optin.End) error {
	_, err := tx.q.NewUpdate().Model((*smsConsentRow)(nil)).Set("ended_at = ?", millis(at)).Set("ended_by = ?", string(by)).
		Where("shop_id = ?", tx.of).Where("customer_id = ?", customer).Where("ended_at = 0").Exec(ctx)
	if err != nil {
		return fmt.Errorf("end the consent of customer %d to SMS: %w", customer, err)
	}
	return nil
}

// ShopsOfPhone returns the shops that have consents for a phone number, ended ones included, by number.
func (s Shops) ShopsOfPhone(ctx context.Context, phone string) ([]shop.ID, error) {
	var ids []shop.ID
	err := s.db.acrossShops().NewSelect().Table("sms_consents").ColumnExpr("DISTINCT shop_id").Where("phone = ?", clean(phone)).Order("shop_id").Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("find the shops with consents for a phone number: %w", err)
	}
	return ids, nil
}
