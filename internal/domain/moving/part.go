package moving

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// PartKind is a kind of what a store has beside contracts.
type PartKind string

// The kinds of parts.
const (
	GroupPart    PartKind = "PLAN_GROUP"
	RulePart     PartKind = "SWAP_RULE"
	BundlePart   PartKind = "BUNDLE"
	ProfilePart  PartKind = "DELIVERY_PROFILE"
	MemberPart   PartKind = "MEMBER"
	CustomerPart PartKind = "CUSTOMER" // what a file says of a customer
)

// PartKinds lists them in the order in which they are made: bundles name plans.
var PartKinds = []PartKind{GroupPart, RulePart, BundlePart, ProfilePart, MemberPart, CustomerPart}

// PartStage is how far the move of a part is.
type PartStage string

// The stages of parts, in their order.
const (
	PartFound   PartStage = "FOUND"   // listed
	PartReady   PartStage = "READY"   // read, and goes
	PartMade    PartStage = "MADE"    // is where it goes
	PartStaying PartStage = "STAYING" // cannot go
)

// PartStages lists them in order.
var PartStages = []PartStage{PartFound, PartReady, PartMade, PartStaying}

// Part is something that a store has beside contracts, in a move.
type Part struct {
	Move ID
	PartKey
	Name     string
	Here     int64 // its number where it goes; 0: it is not made
	Customer int64 // of a member or a customer; 0: none, or not known
	Stage    PartStage
	Fit      Fit // empty: not known yet
	Findings []Finding
	Reason   string    // why it could not be made
	Data     PartData  // as it was read last
	Plans    PlanMap   // of a made plan group
	Unread   bool      // it was listed, and is read next
	Filed    bool      // it comes from a file and not from the other service
	SeenAt   time.Time // when it was listed last
	BegunAt  time.Time // when its making began; zero: it did not
	MadeAt   time.Time // zero: it is not made
}

// PlanMap has selling plans where they go by those at the service that is left.
type PlanMap map[int64]int64

// PartKey names a part within its move.
type PartKey struct {
	Kind PartKind
	Line shop.Line // of a plan group, swap rule or bundle; otherwise empty
	// There is its number at the service that is left, or the e-mail address of a customer who has
	// none; empty: all of the kind, which cannot be read there.
	There string
}

// PartData is what was read of a part: one of the fields, by its kind.
type PartData struct {
	Group    *Group           `json:"group,omitempty"`
	Rule     *swap.Rule       `json:"rule,omitempty"`
	Bundle   *bundle.Settings `json:"bundle,omitempty"`
	Member   *Member          `json:"member,omitempty"`
	Customer *Customer        `json:"customer,omitempty"`
}

// Group is a plan group as one service describes it to the other. Numbers of options are those of
// its selling plans there; numbers of products and variants are the platform's.
type Group struct {
	Terms    plan.Terms    `json:"terms"`
	Options  []plan.Option `json:"options"`
	Products []int64       `json:"products,omitempty"`
	Variants []int64       `json:"variants,omitempty"`
}

// Member is a member of a loyalty programme.
type Member struct {
	Customer  int64          `json:"customer,omitempty"` // the platform's number; 0: not known
	Email     string         `json:"email,omitempty"`
	FirstName string         `json:"firstName,omitempty"`
	LastName  string         `json:"lastName,omitempty"`
	Born      string         `json:"born,omitempty"` // YYYY-MM-DD; empty: not known
	Excluded  bool           `json:"excluded,omitempty"`
	Available loyalty.Points `json:"available,omitempty"` // may be below zero
	Pending   loyalty.Points `json:"pending,omitempty"`
	Earned    loyalty.Points `json:"earned,omitempty"`

	// Of a member that leaves: the points that both services count already, because they were brought from where it
	// goes or sent there; and those that this move has sent, in so many changes.
	Brought loyalty.Points `json:"brought,omitempty"`
	Sent    loyalty.Points `json:"sent,omitempty"`
	Changes int            `json:"changes,omitempty"`
	// Of a change that may be under way: its points, and those that the member had there before it; nil: none is.
	By     loyalty.Points  `json:"by,omitempty"`
	Before *loyalty.Points `json:"before,omitempty"`
}

// Carry takes over what earlier readings of the member know of changes.
func (m *Member) Carry(was *Member) {
	if was != nil {
		m.Sent, m.Changes, m.By, m.Before = was.Sent, was.Changes, was.By, was.Before
	}
}

// Customer is what a file says of a customer.
type Customer struct {
	ID       int64  `json:"id,omitempty"` // the platform's number; 0: not known
	Email    string `json:"email,omitempty"`
	Phone    string `json:"phone,omitempty"`
	Born     string `json:"born,omitempty"`     // YYYY-MM-DD; empty: not known
	Language string `json:"language,omitempty"` // tag, such as pt-BR
	Mails    *bool  `json:"mails,omitempty"`    // agreed to e-mails, or refused them; nil: not said
}

// Judge judges the part by findings. One that is made stays so.
func (p *Part) Judge(found []Finding) {
	p.Findings, p.Fit, p.Unread = found, fitOf(found), false
	switch {
	case p.Stage == PartMade:
	case p.Fit == Stays:
		p.Stage = PartStaying
	default:
		p.Stage = PartReady
	}
}

// Has reports whether the part has a finding with a code.
func (p Part) Has(code string) bool {
	return slices.ContainsFunc(p.Findings, func(f Finding) bool { return f.Code == code })
}

// fitOf returns the worst fit of findings.
func fitOf(found []Finding) Fit {
	fit := Goes
	for _, f := range found {
		if f.Fit == Stays || fit == Goes {
			fit = f.Fit
		}
	}
	return fit
}

// Parts is how far a move is with what a store has beside contracts.
type Parts struct {
	Source   int       // which of the lists is read next
	Page     int       // of it
	BeganAt  time.Time // when reading began; zero: it did not
	ReadAt   time.Time // when all were read; zero: they are not
	Make     bool      // those that go are made once all were read
	Declined bool      // contracts are moved without those that are not made
}

// Due reports whether a worker has something to do.
func (p Parts) Due() bool { return p.ReadAt.IsZero() || p.Make }

// ReadAgain has all read again.
func (p *Parts) ReadAgain() { p.Source, p.Page, p.BeganAt, p.ReadAt = 0, 0, time.Time{}, time.Time{} }

// PartMatch says which parts of a move are meant. The zero value means all.
type PartMatch struct {
	Kind   PartKind
	There  []string // their numbers there
	Stages []PartStage
	Unread bool
}

// PartCount is how many parts of a move have a kind, a stage and a fit.
type PartCount struct {
	Kind  PartKind
	Stage PartStage
	Fit   Fit
	N     int
}

// PartPage is a page of a list of parts.
type PartPage struct {
	Parts []Part
	More  bool
}

// PartReader reads the parts of moves.
type PartReader interface {
	// MoveParts returns at most limit parts of a move by their keys, after one, that match.
	MoveParts(ctx context.Context, of ID, match PartMatch, after PartKey, limit int) ([]Part, error)
	// MovePartCounts counts the parts of a move.
	MovePartCounts(ctx context.Context, of ID) ([]PartCount, error)
}

// PartTx writes the parts of moves.
type PartTx interface {
	PartReader
	// ListMoveParts adds parts that were listed; those that the move has will be read again.
	ListMoveParts(ctx context.Context, parts []Part) error
	PutMoveParts(ctx context.Context, parts []Part) error
	// DropMoveParts removes parts that were never made and were listed before an instant, unless they
	// come from a file.
	DropMoveParts(ctx context.Context, of ID, before time.Time) error
}
