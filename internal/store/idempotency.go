package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// forgetMost is how many expired rows a new one takes along: more than one, so
// that they end some time.
const forgetMost = 20

// idempotencyRow is a row of idempotency_keys.
type idempotencyRow struct {
	bun.BaseModel `bun:"table:idempotency_keys,alias:y"`

	ShopID      int64  `bun:"shop_id,pk"`
	Name        string `bun:"name,pk"` // hexadecimal, like the fingerprint
	Fingerprint string
	Token       string
	ClaimedAt   int64
	ExpiresAt   int64
	Status      int64
	Header      string // JSON
	Body        string
}

// takeExpired lets a claim replace a row that counts no more, in the statement
// that inserts it: of many nodes one wins.
const takeExpired = `ON CONFLICT (shop_id, name) DO UPDATE SET fingerprint = EXCLUDED.fingerprint, token = EXCLUDED.token,
	claimed_at = EXCLUDED.claimed_at, expires_at = EXCLUDED.expires_at, status = EXCLUDED.status, header = EXCLUDED.header, body = EXCLUDED.body
	WHERE idempotency_keys.expires_at <= EXCLUDED.claimed_at`

// Answers keeps what requests were answered, so that they can be sent again.
type Answers struct{ db *DB }

// Answers returns what requests were answered.
func (db *DB) Answers() Answers { return Answers{db} }

// Claim records a claim where nothing counts that is recorded already, and
// returns what is recorded then: the claim itself, or what stands against it.
func (a Answers) Claim(ctx context.Context, of shop.ID, c idempotency.Claim) (idempotency.Record, error) {
	var r idempotency.Record
	err := a.db.Update(ctx, of, func(tx *Tx) error {
		row := idempotencyRow{
			ShopID: int64(of), Name: hex.EncodeToString(c.Name[:]), Fingerprint: hex.EncodeToString(c.Fingerprint[:]), Token: c.Token,
			ClaimedAt: millis(c.At), ExpiresAt: millis(c.ExpiresAt()),
		}
		n, err := insert(ctx, tx, []idempotencyRow{row}, takeExpired)
		if err != nil {
			return err
		}
		if n == 0 { // the row that stands against it is locked now, so it is still there
			q := tx.q.NewSelect().Model(&row).Where("y.shop_id = ?", tx.of).Where("y.name = ?", row.Name)
			if err := q.Scan(ctx); err != nil {
				return fmt.Errorf("read an answer: %w", err)
			}
		} else if err := tx.forgetExpired(ctx, (*idempotencyRow)(nil), "name", c.At); err != nil {
			return err
		}
		r, err = row.record()
		return err
	})
	return r, err
}

// Keep records the answer to a claim and gives it until the claim's answers end.
// A claim that was lost meanwhile leaves things as they are.
func (a Answers) Keep(ctx context.Context, of shop.ID, c idempotency.Claim, answer idempotency.Answer) error {
	header, err := json.Marshal(answer.Header)
	if err != nil {
		return fmt.Errorf("write the header of an answer: %w", err)
	}
	return a.db.Update(ctx, of, func(tx *Tx) error {
		_, err := tx.q.NewUpdate().Model((*idempotencyRow)(nil)).
			Set("status = ?", answer.Status).Set("header = ?", string(header)).Set("body = ?", clean(string(answer.Body))).Set("expires_at = ?", millis(c.AnswerExpiresAt())).
			Where("y.shop_id = ?", tx.of).Where("y.name = ?", hex.EncodeToString(c.Name[:])).Where("y.token = ?", c.Token).Exec(ctx)
		if err != nil {
			return fmt.Errorf("keep an answer: %w", err)
		}
		return nil
	})
}

// Release ends a claim without an answer, so that the request can be carried out
// when it comes again. A claim that was lost meanwhile leaves things as they are.
func (a Answers) Release(ctx context.Context, of shop.ID, c idempotency.Claim) error {
	return a.db.Update(ctx, of, func(tx *Tx) error {
		_, err := tx.q.NewDelete().Model((*idempotencyRow)(nil)).
			Where("y.shop_id = ?", tx.of).Where("y.name = ?", hex.EncodeToString(c.Name[:])).Where("y.token = ?", c.Token).Exec(ctx)
		if err != nil {
			return fmt.Errorf("release a claim: %w", err)
		}
		return nil
	})
}

func (r idempotencyRow) record() (idempotency.Record, error) {
	known := idempotency.Record{Token: r.Token}
	raw, err := hex.DecodeString(r.Fingerprint)
	if err != nil || copy(known.Fingerprint[:], raw) != len(known.Fingerprint) {
		return idempotency.Record{}, fault.New(fault.Internal, "the fingerprint of request %s is damaged", r.Name)
	}
	if r.Status == 0 {
		return known, nil
	}
	known.Answer = &idempotency.Answer{Status: int(r.Status), Body: []byte(r.Body)}
	if err := json.Unmarshal([]byte(r.Header), &known.Answer.Header); err != nil {
		return idempotency.Record{}, fmt.Errorf("read the header of an answer: %w", err)
	}
	return known, nil
}
