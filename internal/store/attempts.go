package store

import (
	"encoding/json"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// attemptRow is a row of attempts.
type attemptRow struct {
	bun.BaseModel `bun:"table:attempts,alias:a"`

	ShopID       int64 `bun:"shop_id,pk"`
	ID           int64 `bun:"id,pk"`
	ContractID   int64
	Cycle        int64
	Status       string
	BillingDate  int64
	Moved        bool
	DueAt        int64 `bun:",nullzero"`
	PublishAt    int64 `bun:",nullzero"`
	TellingUntil int64
	Try          int64
	Key          string
	FirstSentAt  int64
	SentAt       int64
	Failures     int64
	Polls        int64
	Manual       bool
	AttemptedAt  int64
	PlatformID   string `bun:"platform_id"`
	ErrorCode    string
	ErrorMessage string
	ActionURL    string `bun:"action_url"`
	OrderID      int64
	OrderName    string
	Amount       int64
	Currency     string
	Lines        string // JSON
	Note         string
	Flags        string // JSON
	Preparation  string // JSON
	Dunning      string // JSON
	CreatedAt    int64
	UpdatedAt    int64
	Version      int64
}

func attemptRowOf(of shop.ID, a billing.Attempt) (attemptRow, error) {
	lines, err := linesText(a.Lines)
	if err != nil {
		return attemptRow{}, fmt.Errorf("write attempt %d: %w", a.ID, err)
	}
	flags := ""
	if a.Flags != (contract.Flags{}) {
		text, err := json.Marshal(a.Flags)
		if err != nil {
			return attemptRow{}, fmt.Errorf("write attempt %d: %w", a.ID, err)
		}
		flags = string(text)
	}
	preparation := ""
	if !a.Prep.None() {
		text, err := json.Marshal(a.Prep)
		if err != nil {
			return attemptRow{}, fmt.Errorf("write attempt %d: %w", a.ID, err)
		}
		preparation = string(text)
	}
	dunned := ""
	if a.Dunning != (dunning.Case{}) {
		text, err := json.Marshal(a.Dunning)
		if err != nil {
			return attemptRow{}, fmt.Errorf("write attempt %d: %w", a.ID, err)
		}
		dunned = string(text)
	}
	return attemptRow{
		ShopID: int64(of), ID: int64(a.ID), ContractID: int64(a.Contract), Cycle: int64(a.Cycle), Status: string(a.Status),
		BillingDate: millis(a.BillingDate), Moved: a.Moved, DueAt: millis(a.DueAt), PublishAt: millis(a.PublishAt), TellingUntil: millis(a.PublishLeaseUntil),
		Try: int64(a.Try), Key: a.Key, FirstSentAt: millis(a.FirstSentAt), SentAt: millis(a.SentAt), Failures: int64(a.Failures), Polls: int64(a.Polls),
		Manual: a.Manual, AttemptedAt: millis(a.AttemptedAt), PlatformID: a.PlatformID, ErrorCode: a.ErrorCode, ErrorMessage: a.ErrorMessage,
		ActionURL: a.ActionURL, OrderID: a.OrderID, OrderName: a.OrderName, Amount: a.Amount.Minor, Currency: string(a.Amount.Currency),
		Lines: lines, Note: a.Note, Flags: flags, Preparation: preparation, Dunning: dunned, CreatedAt: millis(a.CreatedAt), UpdatedAt: millis(a.UpdatedAt), Version: a.Version,
	}, nil
}

func (r attemptRow) attempt() (billing.Attempt, error) {
	a := billing.Attempt{
		ID: billing.AttemptID(r.ID), Contract: contract.ID(r.ContractID), Cycle: int(r.Cycle), Status: billing.Status(r.Status),
		BillingDate: instant(r.BillingDate), Moved: r.Moved, DueAt: instant(r.DueAt), PublishAt: instant(r.PublishAt), PublishLeaseUntil: instant(r.TellingUntil),
		Try: int(r.Try), Key: r.Key, FirstSentAt: instant(r.FirstSentAt), SentAt: instant(r.SentAt), Failures: int(r.Failures), Polls: int(r.Polls),
		Manual: r.Manual, AttemptedAt: instant(r.AttemptedAt), PlatformID: r.PlatformID, ErrorCode: r.ErrorCode, ErrorMessage: r.ErrorMessage,
		ActionURL: r.ActionURL, OrderID: r.OrderID, OrderName: r.OrderName,
		Amount: money.Amount{Minor: r.Amount, Currency: money.Currency(r.Currency)},
		Note:   r.Note, CreatedAt: instant(r.CreatedAt), UpdatedAt: instant(r.UpdatedAt), Version: r.Version,
	}
	var err error
	if a.Lines, err = parseLines(r.Lines); err != nil {
		return billing.Attempt{}, fmt.Errorf("read attempt %d: %w", r.ID, err)
	}
	if r.Flags != "" {
		if err := json.Unmarshal([]byte(r.Flags), &a.Flags); err != nil {
			return billing.Attempt{}, fmt.Errorf("read attempt %d: %w", r.ID, err)
		}
	}
	if r.Preparation != "" {
		if err := json.Unmarshal([]byte(r.Preparation), &a.Prep); err != nil {
			return billing.Attempt{}, fmt.Errorf("read attempt %d: %w", r.ID, err)
		}
	}
	if r.Dunning != "" {
		if err := json.Unmarshal([]byte(r.Dunning), &a.Dunning); err != nil {
			return billing.Attempt{}, fmt.Errorf("read attempt %d: %w", r.ID, err)
		}
	}
	return a, nil
}

func attemptsOf(rows []attemptRow) ([]billing.Attempt, error) {
	return parsed(rows, attemptRow.attempt)
}
