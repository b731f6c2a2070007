package store

import (
	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/billing"
)

// attemptRow is a row of attempts.
type attemptRow struct {
	bun.BaseModel `bun:"table:attempts,alias:a"`

	ShopID            int64 `bun:"shop_id,pk"`
	ID                int64 `bun:"id,pk"`
	ContractID        int64
	Cycle             int64
	Status            string
	BillingDate       int64
	Moved             bool
	DueAt             int64 `bun:",nullzero"`
	PublishAt         int64 `bun:",nullzero"`
	PublishLeaseUntil int64
	Try               int64
	Key               string
	FirstSentAt       int64
	SentAt            int64
	Failures          int64
	Polls             int64
	Manual            bool
	AttemptedAt       int64
	PlatformID        string `bun:"platform_id"`
	ErrorCode         string
	ErrorMessage      string
	ActionURL         string `bun:"action_url"`
	OrderID           int64
	OrderName         string
	Amount            int64
	Currency          string
	Lines             string // JSON
	Note              string
	Flags             string // JSON
	Preparation       string // JSON
	Dunning           string // JSON
	Expected          int64  // written by putExpected alone, once the row is there
	CreatedAt         int64
	UpdatedAt         int64
	Version           int64
}

func (r *attemptRow) Columns(m *mapping, a *billing.Attempt) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &a.ID)
	mapInt(m, &r.ContractID, &a.Contract)
	mapInt(m, &r.Cycle, &a.Cycle)
	mapText(m, &r.Status, &a.Status)
	mapTime(m, &r.BillingDate, &a.BillingDate)
	mapSame(m, &r.Moved, &a.Moved)
	mapTime(m, &r.DueAt, &a.DueAt)
	mapTime(m, &r.PublishAt, &a.PublishAt)
	mapTime(m, &r.PublishLeaseUntil, &a.PublishLeaseUntil)
	mapInt(m, &r.Try, &a.Try)
	mapText(m, &r.Key, &a.Key)
	mapTime(m, &r.FirstSentAt, &a.FirstSentAt)
	mapTime(m, &r.SentAt, &a.SentAt)
	mapInt(m, &r.Failures, &a.Failures)
	mapInt(m, &r.Polls, &a.Polls)
	mapSame(m, &r.Manual, &a.Manual)
	mapTime(m, &r.AttemptedAt, &a.AttemptedAt)
	mapText(m, &r.PlatformID, &a.PlatformID)
	mapText(m, &r.ErrorCode, &a.ErrorCode)
	mapText(m, &r.ErrorMessage, &a.ErrorMessage)
	mapText(m, &r.ActionURL, &a.ActionURL)
	mapSame(m, &r.OrderID, &a.OrderID)
	mapText(m, &r.OrderName, &a.OrderName)
	mapText(m, &r.Currency, &a.Amount.Currency)
	mapAmount(m, &r.Amount, &a.Amount, a.Amount.Currency)
	mapVia(m, "lines", &r.Lines, &a.Lines, linesText, parseLines)
	mapText(m, &r.Note, &a.Note)
	mapJSON(m, "flags", &r.Flags, &a.Flags)
	mapJSON(m, "preparation", &r.Preparation, &a.Prep)
	mapJSON(m, "dunning", &r.Dunning, &a.Dunning)
	mapSame(m, &r.Expected, &a.Expected)
	mapTime(m, &r.CreatedAt, &a.CreatedAt)
	mapTime(m, &r.UpdatedAt, &a.UpdatedAt)
	mapSame(m, &r.Version, &a.Version)
	m.within(r.ID)
}
