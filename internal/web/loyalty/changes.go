package loyalty

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/shorten"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/web"
)

func (o Options) changes(api *web.API) {
	change := web.Operation{Method: http.MethodPost, Tag: "Points", Scope: access.LoyaltyWrite, Errors: []int{http.StatusNotFound, http.StatusConflict}}

	enrol := change
	enrol.ID, enrol.Path, enrol.Summary, enrol.Body = "enrollCustomer", Base+"/enroll-customer", "Enroll a customer", enrolBody{}
	enrol.Description = "Makes a customer of the store a member. One who is a member stays one; one who had left takes part again."
	web.Register(api, enrol, o.enrol)

	add := change
	add.ID, add.Path, add.Summary, add.Body = "addPoints", Base+"/add-points", "Add points", addBody{}
	add.Description = "Gives points to a customer. With earnRuleId they are given for that rule: social and other once-only activities are refused a second time, and points may be left out. " +
		"Where the programme enrolls automatically, the customer becomes a member."
	web.Register(api, add, o.addPoints)

	remove := change
	remove.ID, remove.Path, remove.Summary, remove.Body = "removePoints", Base+"/remove-points", "Remove points", removeBody{}
	remove.Description = "Takes available points from a customer, never more than there are; or takes back what one transaction earned, which may leave the balance below zero."
	web.Register(api, remove, o.removePoints)

	credit := change
	credit.ID, credit.Path, credit.Summary, credit.Body = "addCredits", Base+"/add-credits", "Add store credit", creditBody{}
	credit.Description = "Gives store credit to a customer. It is kept in the customer's loyalty record."
	web.Register(api, credit, o.addCredits)

	approve := change
	approve.ID, approve.Method, approve.Path, approve.Summary, approve.Body = "approvePendingTransactions", http.MethodPut, Base+"/approve-pending-transactions", "Approve pending points", approveBody{}
	approve.Description = "Makes a customer's pending points available: all of them, or those of some transactions."
	web.Register(api, approve, o.approve)
}

type changeIn struct {
	web.JSONBody
}

type enrolBody struct {
	Named
	FirstName string `json:"firstName,omitempty" maxLength:"255" doc:"As the customer's contracts say when left out." example:"Ada"`
	LastName  string `json:"lastName,omitempty" maxLength:"255" doc:"As the customer's contracts say when left out." example:"Khan"`
	DOB       string `json:"dob,omitempty" format:"date" doc:"Date of birth, YYYY-MM-DD: from 1900 on, and not after today." example:"1990-02-28"`
}

// maxName is how long a name can be, in characters.
const maxName = 255

// oldest is the earliest year of birth that is taken for one.
const oldest = 1900

func (o Options) enrol(ctx context.Context, in *changeIn) (*memberOut, error) {
	caller := web.CallerOf(ctx)
	var body enrolBody
	who, err := in.read(caller, &body, &body.Named)
	if err != nil {
		return nil, err
	}
	for field, text := range map[string]string{"firstName": body.FirstName, "lastName": body.LastName} {
		if err := limit(field, text, maxName); err != nil {
			return nil, err
		}
	}
	if body.DOB != "" {
		if err := o.checkBirth(body.DOB, caller); err != nil {
			return nil, err
		}
	}
	m, err := o.Points.Enrol(ctx, caller.Shop.ID, loyalty.EnrolCommand{Who: who, FirstName: body.FirstName, LastName: body.LastName, Born: body.DOB, Actor: caller.Actor})
	return newMemberOut(caller, m, err)
}

// checkBirth refuses what cannot be the date of birth of a living person.
func (o Options) checkBirth(text string, caller web.Caller) error {
	cal, err := caller.Shop.Calendar()
	if err != nil {
		return err
	}
	wrong := func(what string) error {
		return fault.New(fault.Invalid, "field 'dob' must be %s, and %q is not", what, shorten.Text(text, shownText)).Code("bodyField").Field("dob")
	}
	switch born, err := time.Parse(time.DateOnly, text); {
	case err != nil:
		return wrong("a date like 1990-02-28")
	case born.Year() < oldest:
		return wrong("in " + strconv.Itoa(oldest) + " or later")
	case text > o.Gate.Clock.Now().In(cal.Zone).Format(time.DateOnly):
		return wrong("today or earlier")
	}
	return nil
}

type addBody struct {
	Named
	Points     *float64 `json:"points,omitempty" exclusiveMinimum:"0" maximum:"1000000000" doc:"How many; at most two decimals. Required without earnRuleId." example:"100"`
	EarnRuleID *int64   `json:"earnRuleId,omitempty" minimum:"1" doc:"The earn rule for which they are given." example:"1"`
	Note       string   `json:"note,omitempty" maxLength:"500" doc:"For the store: why." example:"Goodwill"`
}

func (o Options) addPoints(ctx context.Context, in *changeIn) (*memberOut, error) {
	caller := web.CallerOf(ctx)
	var body addBody
	cmd, err := in.points(ctx, &body, &body.Named, &body.Note)
	if err != nil {
		return nil, err
	}
	if cmd.Rule, err = numberOf[loyalty.RuleID]("earnRuleId", body.EarnRuleID); err != nil {
		return nil, err
	}
	if cmd.Points, err = pointsOf(body.Points, cmd.Rule == 0); err != nil {
		return nil, err
	}
	m, err := o.Points.Add(ctx, caller.Shop.ID, cmd)
	return newMemberOut(caller, m, err)
}

// numberOf returns the record that a field names, 0 for none.
func numberOf[ID ~int64](field string, number *int64) (ID, error) {
	if number == nil {
		return 0, nil
	}
	if *number < 1 {
		return 0, fault.New(fault.Invalid, "field '%s' must be at least 1", field).Code("bodyField").Field(field)
	}
	return ID(*number), nil
}

type removeBody struct {
	Named
	Points        *float64 `json:"points,omitempty" exclusiveMinimum:"0" maximum:"1000000000" doc:"How many; at most two decimals. Required without transactionId, otherwise at most what it earned." example:"100"`
	TransactionID *int64   `json:"transactionId,omitempty" minimum:"1" doc:"The transaction whose points are taken back." example:"11"`
	Note          string   `json:"note,omitempty" maxLength:"500" doc:"For the store: why." example:"Order was returned"`
}

func (o Options) removePoints(ctx context.Context, in *changeIn) (*memberOut, error) {
	caller := web.CallerOf(ctx)
	var body removeBody
	cmd, err := in.points(ctx, &body, &body.Named, &body.Note)
	if err != nil {
		return nil, err
	}
	if cmd.Entry, err = numberOf[loyalty.EntryID]("transactionId", body.TransactionID); err != nil {
		return nil, err
	}
	if cmd.Points, err = pointsOf(body.Points, cmd.Entry == 0); err != nil {
		return nil, err
	}
	m, err := o.Points.Remove(ctx, caller.Shop.ID, cmd)
	return newMemberOut(caller, m, err)
}

type creditBody struct {
	Named
	Amount *float64 `json:"amount,omitempty" exclusiveMinimum:"0" maximum:"999999.99" doc:"In the store's currency, with no more decimals than it has. Required, by this name or as points." example:"7.5"`
	Points *float64 `json:"points,omitempty" exclusiveMinimum:"0" maximum:"999999.99" doc:"The same under another name." example:"7.5"`
	Note   string   `json:"note,omitempty" maxLength:"500" doc:"For the store: why." example:"Goodwill"`
}

// maxAmount is the most store credit that is given at once, in main units.
const maxAmount = 999999.99

func (o Options) addCredits(ctx context.Context, in *changeIn) (*memberOut, error) {
	caller := web.CallerOf(ctx)
	var body creditBody
	who, err := in.read(caller, &body, &body.Named)
	if err != nil {
		return nil, err
	}
	if err := limit("note", body.Note, loyalty.MaxNote); err != nil {
		return nil, err
	}
	if body.Amount != nil && body.Points != nil && *body.Amount != *body.Points {
		return nil, fault.New(fault.Invalid, "fields 'amount' and 'points' differ: give one of them").Code("amountInvalid").Field("amount")
	}
	amount, err := amountOf(cmp.Or(body.Amount, body.Points), caller.Shop.Currency)
	if err != nil {
		return nil, err
	}
	m, err := o.Points.AddCredit(ctx, caller.Shop.ID, loyalty.CreditCommand{Who: who, Amount: amount.Minor, Note: body.Note, Actor: caller.Actor, IdempotencyKey: web.RequestName(ctx)})
	return newMemberOut(caller, m, err)
}

func amountOf(n *float64, c money.Currency) (money.Amount, error) {
	bad := func(format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Code("amountInvalid").Field("amount")
	}
	switch {
	case n == nil:
		return money.Amount{}, bad("field 'amount' is required")
	case *n <= 0 || *n > maxAmount:
		return money.Amount{}, bad("field 'amount' must be more than 0 and at most %g", maxAmount)
	}
	amount, err := money.Parse(strconv.FormatFloat(*n, 'f', -1, 64), c)
	if err != nil || amount.Float() != *n {
		return money.Amount{}, bad("field 'amount' has more decimals than %s has", c)
	}
	return amount, nil
}

type approveBody struct {
	Named
	TransactionIDs []int64 `json:"transactionIds,omitempty" maxItems:"500" doc:"The pending transactions; all when left out." example:"[11,12]"`
}

// maxApprovals is how many transactions one call can name.
const maxApprovals = 500

func (o Options) approve(ctx context.Context, in *changeIn) (*memberOut, error) {
	caller := web.CallerOf(ctx)
	var body approveBody
	who, err := in.read(caller, &body, &body.Named)
	if err != nil {
		return nil, err
	}
	if len(body.TransactionIDs) > maxApprovals {
		return nil, fault.New(fault.Invalid, "field 'transactionIds' names %d transactions: at most %d are allowed", len(body.TransactionIDs), maxApprovals).Code("bodyField").Field("transactionIds")
	}
	cmd := loyalty.ApproveCommand{Who: who, Actor: caller.Actor, IdempotencyKey: web.RequestName(ctx)}
	for _, id := range body.TransactionIDs {
		cmd.Entries = append(cmd.Entries, loyalty.EntryID(id))
	}
	m, err := o.Points.Approve(ctx, caller.Shop.ID, cmd)
	return newMemberOut(caller, m, err)
}

// read reads a body and the customer that it names.
func (in *changeIn) read(caller web.Caller, body any, named *Named) (loyalty.CustomerRef, error) {
	if err := in.Into(body); err != nil {
		return loyalty.CustomerRef{}, err
	}
	return named.who(caller)
}

// points reads a body, and begins the command with the customer and the note in it.
func (in *changeIn) points(ctx context.Context, body any, named *Named, note *string) (loyalty.PointsCommand, error) {
	caller := web.CallerOf(ctx)
	who, err := in.read(caller, body, named)
	if err != nil {
		return loyalty.PointsCommand{}, err
	}
	return loyalty.PointsCommand{Who: who, Note: *note, Actor: caller.Actor, IdempotencyKey: web.RequestName(ctx)}, limit("note", *note, loyalty.MaxNote)
}

// pointsOf reads a number of points. One that may be left out is 0 then.
func pointsOf(n *float64, required bool) (loyalty.Points, error) {
	if n == nil {
		if required {
			return 0, fault.New(fault.Invalid, "field 'points' is required").Code("bodyField").Field("points")
		}
		return 0, nil
	}
	return loyalty.ParsePoints("points", *n)
}

// limit refuses a text that is too long or contains what is not text.
func limit(field, text string, most int) error {
	if n := utf8.RuneCountInString(text); n > most {
		return fault.New(fault.Invalid, "field '%s' has %d characters: at most %d are allowed", field, n, most).Code("bodyField").Field(field)
	}
	return web.CheckText("field '"+field+"'", field, text)
}
