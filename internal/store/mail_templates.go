package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
)

var _ mailtemplate.Tx = (*Tx)(nil)

// MailTemplates returns the store of merchants' e-mails.
func (db *DB) MailTemplates() mailtemplate.Store {
	return readScope(db, func(tx *Tx) mailtemplate.Tx { return tx }, func(tx *Tx) mailtemplate.ReadTx { return tx })
}

// mailTemplateRow is a row of mail_templates.
type mailTemplateRow struct {
	bun.BaseModel `bun:"table:mail_templates,alias:t"`

	ShopID      int64  `bun:"shop_id,pk"`
	Kind        string `bun:"kind,pk"`
	Language    string `bun:"language,pk"`
	Version     int64  `bun:"version,pk"`
	Live        bool
	Subject     string
	Preheader   string
	Heading     string
	Body        string
	Button      string
	Author      string
	PublishedAt int64
}

func (r *mailTemplateRow) Columns(m *mapping, t *mailtemplate.Template) {
	m.shop(&r.ShopID)
	mapText(m, &r.Kind, &t.Kind)
	mapText(m, &r.Language, &t.Language)
	mapSame(m, &r.Version, &t.Version)
	mapSame(m, &r.Live, &t.Live)
	mapText(m, &r.Subject, &t.Subject)
	mapText(m, &r.Preheader, &t.Preheader)
	mapText(m, &r.Heading, &t.Heading)
	mapText(m, &r.Body, &t.Body)
	mapText(m, &r.Button, &t.Button)
	mapText(m, &r.Author, &t.Author)
	mapTime(m, &r.PublishedAt, &t.PublishedAt)
}

// LiveTemplates returns the templates that are sent, by kind and language.
func (tx *Tx) LiveTemplates(ctx context.Context) ([]mailtemplate.Template, error) {
	var rows []mailTemplateRow
	if err := tx.q.NewSelect().Model(&rows).Where("t.shop_id = ?", tx.of).Where("t.live").Order("t.kind", "t.language").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the merchant's e-mails: %w", err)
	}
	return readRows[mailtemplate.Template](rows)
}

// TemplateHistory returns the versions of a template, newest first. A Tx that writes locks them.
func (tx *Tx) TemplateHistory(ctx context.Context, k mailtemplate.Key) ([]mailtemplate.Template, error) {
	var rows []mailTemplateRow
	q := tx.q.NewSelect().Model(&rows).Where("t.shop_id = ?", tx.of).Where("t.kind = ?", k.Kind).Where("t.language = ?", k.Language).OrderExpr("t.version DESC")
	if err := tx.locked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the versions of the e-mail %s: %w", k.Kind, err)
	}
	return readRows[mailtemplate.Template](rows)
}

// RetireTemplate makes no version of a template live.
func (tx *Tx) RetireTemplate(ctx context.Context, k mailtemplate.Key) error {
	_, err := tx.q.NewUpdate().Model((*mailTemplateRow)(nil)).Set("live = ?", false).Where("t.shop_id = ?", tx.of).Where("t.kind = ?", k.Kind).
		Where("t.language = ?", k.Language).Where("t.live").Exec(ctx)
	if err != nil {
		return fmt.Errorf("retire the e-mail %s: %w", k.Kind, err)
	}
	return nil
}

// AddTemplate writes a new version. A version that exists already is a Conflict.
func (tx *Tx) AddTemplate(ctx context.Context, t mailtemplate.Template) error {
	rows, err := rowsOf[mailTemplateRow](tx.of, t)
	if err != nil {
		return err
	}
	n, err := insert(ctx, tx, rows, "ON CONFLICT DO NOTHING")
	if err == nil && n == 0 {
		err = changed("mailTemplate", "An e-mail")
	}
	return err
}

// DropTemplates deletes the versions of a template up to one.
func (tx *Tx) DropTemplates(ctx context.Context, k mailtemplate.Key, upTo int64) error {
	_, err := tx.q.NewDelete().Model((*mailTemplateRow)(nil)).Where("t.shop_id = ?", tx.of).Where("t.kind = ?", k.Kind).Where("t.language = ?", k.Language).
		Where("t.version <= ?", upTo).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete old versions of the e-mail %s: %w", k.Kind, err)
	}
	return nil
}
