// Package support is what the people of a store see of one contract and note about it: the
// contract with its orders, its history, its e-mails and their comments. It changes no contract:
// that is left to amend and billing.
package support

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// What is read of a contract at most.
const (
	MaxUpcoming = 6
	MaxPast     = 12
	MaxMails    = 5
	PageSize    = 20 // entries of the timeline
)

// MaxComment is how many characters a comment has at most.
const MaxComment = 2000

// CommentID is the number of a comment, unique within a shop.
type CommentID int64

// Comment is what a user of the dashboard noted about a contract. Customers and clients of the
// API never see it.
type Comment struct {
	ID       CommentID
	Contract contract.ID
	Author   string // e-mail address of the user, as the activity log names actors
	Text     string
	At       time.Time
}

// Sheet is a contract with its orders.
type Sheet struct {
	Contract contract.Contract
	Upcoming []billing.Record  // orders that may still be made and skips that can be undone, soonest first; at most MaxUpcoming
	Past     []billing.Attempt // all others, newest first; at most MaxPast, or as many as were asked for
	MorePast bool
	Inputs   billing.Inputs   // of the upcoming orders
	Mails    []notify.Message // the newest ones, without their texts; at most MaxMails
}

// Attempts returns the contract's attempts that the sheet has.
func (s Sheet) Attempts() []billing.Attempt {
	var list []billing.Attempt
	for _, r := range s.Upcoming {
		list = append(list, r.Attempt)
	}
	return append(list, s.Past...)
}

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	ReadContracts(ctx context.Context, ids []contract.ID) ([]contract.Contract, error)
	// AheadOf returns at most limit attempts of a contract that are open, or skipped with a date
	// after now, by date.
	AheadOf(ctx context.Context, c contract.ID, now time.Time, limit int) ([]billing.Attempt, error)
	// PastOf returns at most limit of its other attempts, the newest first.
	PastOf(ctx context.Context, c contract.ID, now time.Time, limit int) ([]billing.Attempt, error)
	shop.Reader
	billing.InputReader
	// MailsOf returns at most limit e-mails about a contract, the newest first, without their texts.
	MailsOf(ctx context.Context, c contract.ID, limit int) ([]notify.Message, error)
	// MailOf returns an e-mail about a contract, or NotFound.
	MailOf(ctx context.Context, c contract.ID, id notify.MessageID) (notify.Message, error)
	// EntriesAbout returns at most limit entries about a contract and its attempts, the newest
	// first.
	EntriesAbout(ctx context.Context, c contract.ID, f Filter, limit int) ([]activity.Entry, error)
	// CommentsOn returns at most limit comments on a contract, the newest first.
	CommentsOn(ctx context.Context, c contract.ID, before Position, limit int) ([]Comment, error)
}

// Tx is one transaction on one shop's data.
type Tx interface {
	ReadTx

	AddComment(ctx context.Context, c *Comment) error
	// DeleteComment deletes a comment of an author on a contract, if it exists.
	DeleteComment(ctx context.Context, c contract.ID, id CommentID, author string) error
}

// Store runs transactions.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Service reads contracts for the people of a store.
type Service struct {
	Store Store
	Clock clock.Clock
}

// entity is what failures are about.
const entity = "subscriptionContract"

// Contract returns a contract of either line, or NotFound.
func (s *Service) Contract(ctx context.Context, of shop.ID, id contract.ID) (c contract.Contract, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		c, err = find(ctx, tx, id)
		return err
	})
	return c, err
}

func find(ctx context.Context, tx ReadTx, id contract.ID) (contract.Contract, error) {
	list, err := tx.ReadContracts(ctx, []contract.ID{id})
	if err != nil {
		return contract.Contract{}, err
	}
	if len(list) == 0 {
		return contract.Contract{}, fault.New(fault.NotFound, "contract %d does not exist", id).Entity(entity).Code("contractNotFound")
	}
	return list[0], nil
}

// Sheet returns a contract of either line with its orders, or NotFound. At most past of them are
// no longer open.
func (s *Service) Sheet(ctx context.Context, of shop.ID, id contract.ID, past int) (sheet Sheet, err error) {
	now := s.Clock.Now()
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		if sheet.Contract, err = find(ctx, tx, id); err != nil {
			return err
		}
		ahead, err := tx.AheadOf(ctx, id, now, MaxUpcoming)
		if err != nil {
			return err
		}
		if sheet.Past, err = tx.PastOf(ctx, id, now, past+1); err != nil {
			return err
		}
		if sheet.MorePast = len(sheet.Past) > past; sheet.MorePast {
			sheet.Past = sheet.Past[:past]
		}
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		inputs, err := billing.ReadInputs(ctx, tx, store, map[contract.ID]*contract.Contract{id: &sheet.Contract})
		if err != nil {
			return err
		}
		sheet.Inputs = inputs[id]
		for _, a := range ahead {
			sheet.Upcoming = append(sheet.Upcoming, billing.RecordOf(a, sheet.Contract, inputs[id], ahead))
		}
		sheet.Mails, err = tx.MailsOf(ctx, id, MaxMails)
		return err
	})
	return sheet, err
}

// Mail returns an e-mail about a contract, with its text, or NotFound.
func (s *Service) Mail(ctx context.Context, of shop.ID, c contract.ID, id notify.MessageID) (m notify.Message, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		m, err = tx.MailOf(ctx, c, id)
		return err
	})
	if m.Status == notify.Queued || m.Status == notify.Sending || m.Kind == notify.ManagementLink {
		m.Text, m.HTML = "", "" // it may hold a link that signs in
	}
	return m, err
}

// Comment notes a text of a user about a contract.
func (s *Service) Comment(ctx context.Context, of shop.ID, c Comment) error {
	c.Text = strings.TrimSpace(c.Text)
	switch n := utf8.RuneCountInString(c.Text); {
	case n == 0:
		return fault.New(fault.Invalid, "write a comment").Entity(entity).Code("commentEmpty").Field("text")
	case n > MaxComment:
		return fault.New(fault.Invalid, "the comment has %d characters: at most %d are allowed", n, MaxComment).Entity(entity).Code("commentTooLong").Field("text")
	}
	c.At = s.Clock.Now()
	return s.Store.Update(ctx, of, func(tx Tx) error {
		if _, err := find(ctx, tx, c.Contract); err != nil {
			return err
		}
		return tx.AddComment(ctx, &c)
	})
}

// Uncomment deletes a comment of its author, if it exists.
func (s *Service) Uncomment(ctx context.Context, of shop.ID, c contract.ID, id CommentID, author string) error {
	return s.Store.Update(ctx, of, func(tx Tx) error { return tx.DeleteComment(ctx, c, id, author) })
}
