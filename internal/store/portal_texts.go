package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/wording"
)

var _ wording.Tx = (*Tx)(nil)

// Wording returns the store of merchants' texts.
func (db *DB) Wording() wording.Store {
	return readScope(db, func(tx *Tx) wording.Tx { return tx }, func(tx *Tx) wording.ReadTx { return tx })
}

// portalTextRow is a row of portal_texts.
type portalTextRow struct {
	bun.BaseModel `bun:"table:portal_texts,alias:t"`

	ShopID    int64  `bun:"shop_id,pk"`
	Language  string `bun:"language,pk"`
	TextKey   string `bun:"text_key,pk"`
	Form      string `bun:"form,pk"`
	Words     string
	ChangedAt int64
}

func (r *portalTextRow) Columns(m *mapping, t *wording.Text) {
	m.shop(&r.ShopID)
	mapText(m, &r.Language, &t.Language)
	mapText(m, &r.TextKey, &t.Key)
	mapText(m, &r.Form, &t.Form)
	mapText(m, &r.Words, &t.Text)
	mapTime(m, &r.ChangedAt, &t.ChangedAt)
}

// PortalTexts returns the merchant's texts of a language, or of all when it is empty.
func (tx *Tx) PortalTexts(ctx context.Context, language string) ([]wording.Text, error) {
	var rows []portalTextRow
	q := tx.q.NewSelect().Model(&rows).Where("t.shop_id = ?", tx.of).Order("t.language", "t.text_key", "t.form")
	if language != "" {
		q = q.Where("t.language = ?", language)
	}
	if err := tx.locked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the merchant's texts: %w", err)
	}
	return readRows[wording.Text](rows)
}

// PutPortalText writes a text in place of the one that its form has.
func (tx *Tx) PutPortalText(ctx context.Context, t wording.Text) error {
	rows, err := rowsOf[portalTextRow](tx.of, t)
	if err != nil {
		return err
	}
	if _, err := insert(ctx, tx, rows, "ON CONFLICT (shop_id, language, text_key, form) DO UPDATE SET words = excluded.words, changed_at = excluded.changed_at"); err != nil {
		return fmt.Errorf("write the text %s of %s: %w", t.Key, t.Language, err)
	}
	return nil
}

// DeletePortalText deletes the text of a form, if there is one.
func (tx *Tx) DeletePortalText(ctx context.Context, language, key, form string) error {
	_, err := tx.q.NewDelete().Model((*portalTextRow)(nil)).Where("t.shop_id = ?", tx.of).Where("t.language = ?", language).
		Where("t.text_key = ?", key).Where("t.form = ?", form).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete the text %s of %s: %w", key, language, err)
	}
	return nil
}
