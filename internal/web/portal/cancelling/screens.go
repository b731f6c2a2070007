package cancelling

import (
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// screen is what all steps show. Only the fields of the step count.
type screen struct {
	At      string // path that the forms are sent below
	Version int64  // of the contract

	Paragraphs []string // the store's instructions
	Contact    string
	Reasons    []portal.Choice
	Comment    portal.Field

	Offer offer

	What  []string   // what a cancellation does
	Rest  words.Rest // what still comes until the subscription ends
	Facts []portal.Fact
	Links []portal.Action
	ID    session.ID
}

// show shows where the contract's session is.
func (m room) show(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	cmd, err := command(r, v)
	if err != nil {
		return err
	}
	is, err := m.Sessions.Shown(r.Context(), v.Shop.ID, cmd)
	if err != nil {
		return err
	}
	return v.Answer(w, m.screen(v.About(is.Contract.Line), is, r))
}

// screen returns the page of a session's step. ?step=reason goes back to the question.
func (m room) screen(v portal.Visit, is session.View, r *http.Request) portal.Page {
	at := words.Path(is.Contract.ID)
	name := words.Name(v, is.Contract)
	p := portal.Page{Crumb: &portal.Crumb{Name: name, Path: at}, Email: is.Contract.Customer.Email}
	s := screen{At: at + "/cancel", Version: is.Contract.Fingerprint(), ID: is.ID}
	step := is.Step
	if is.ID == 0 {
		step = map[flow.Mode]session.Step{flow.Immediate: session.Confirming, flow.Instructions: session.Reading, flow.Retention: session.Asking}[is.Flow.Mode]
	}
	back := is.Flow.Mode == flow.Retention && (step == session.Offering || step == session.Confirming)
	if back && r.URL.Query().Get("step") == "reason" {
		step, back = session.Asking, false
	}
	switch step {
	case session.Reading:
		p.Name, p.Title, p.Lead = "cancel-instructions", v.T("cancel.instructions.title"), v.T("cancel.instructions.text")
		s.Paragraphs, s.Contact = is.Flow.Paragraphs(), is.Flow.Support
	case session.Asking:
		p.Name, p.Title, p.Lead = "cancel-reason", v.T("cancel.reason.title"), v.T("cancel.reason.text")
		s.reasons(v, is, r)
	case session.Offering, session.Accepting:
		s.Offer = offerOf(v, is)
		p.Name, p.Title, p.Lead = "cancel-offer", s.Offer.Title, v.T("cancel.offer.text")
	case session.Cancelling:
		p.Name, p.Title, p.Lead = "cancel-waits", v.T("cancel.waits.title"), v.T("cancel.waits.text")
	default:
		p.Name, p.Title = "cancel-confirm", v.T("cancel.confirm.title", "product", name)
		if is.Flow.Mode == flow.Retention {
			p.Lead = v.T("cancel.confirm.text")
		}
		s.What, s.Rest = effect(v, is), words.RestOf(v, is.Effect.Rest)
	}
	if back {
		p.Crumb = &portal.Crumb{Name: v.T("cancel.back"), Path: s.At + "?step=reason"}
	}
	p.Content = s
	return p
}

// reasons adds the question, with what was answered before.
func (s *screen) reasons(v portal.Visit, is session.View, r *http.Request) {
	chosen, comment := is.Reason, is.Session.Comment
	if r.Method == http.MethodPost {
		chosen, comment = r.PostForm.Get("reason"), r.PostForm.Get("comment")
	}
	for _, one := range is.Reasons {
		s.Reasons = append(s.Reasons, portal.Choice{Value: one.Key, Name: one.LabelIn(v.Words.Lang()), Selected: one.Key == chosen})
	}
	s.Comment = portal.Field{Name: "comment", Label: v.T("cancel.comment"), Type: "textarea", Hint: v.T("cancel.comment.hint", "n", session.MaxComment), Value: comment, Max: session.MaxComment}
}

// effect says what a cancellation does, and when.
func effect(v portal.Visit, is session.View) []string {
	e := is.Effect
	var list []string
	switch {
	case e.EndsAt.IsZero():
		list = append(list, v.T("cancel.effect.now", "day", v.Day(v.Now)))
		if len(e.Rest.Orders) > 0 {
			list = append(list, v.T("cancel.effect.charging"))
		}
		if !e.Next.IsZero() {
			list = append(list, v.T("cancel.effect.next", "day", v.Day(e.Next), "amount", words.Amount(v, e.Pays)))
		}
	case e.Waits == contract.EndOfTerm:
		list = append(list, v.T("cancel.effect.prepaid", "day", v.Day(e.EndsAt), "n", e.Left))
	case e.Waits == contract.EndOfOrder:
		list = append(list, v.T("cancel.effect.order", "day", v.Day(e.EndsAt)))
	default:
		list = append(list, v.T("cancel.effect.minimum", "day", v.Day(e.EndsAt)))
	}
	if e.Orders > 0 {
		list = append(list, v.T("cancel.effect.orders", "n", e.Orders))
	}
	return append(list, v.T("cancel.effect.others"))
}

// ended shows what came of a session that has cancelled the contract.
func (m room) ended(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	is, err := m.cancelled(r, v)
	if err != nil {
		return err
	}
	return v.Answer(w, endedPage(v.About(is.Contract.Line), is))
}

func endedPage(v portal.Visit, is session.View) portal.Page {
	at := words.Path(is.Contract.ID)
	s := screen{At: at + "/cancelled", ID: is.ID, Rest: words.RestOf(v, is.Effect.Rest), Facts: []portal.Fact{
		{Name: v.T("cancel.done.product"), Text: words.Name(v, is.Contract)},
		{Name: v.T("cancel.done.on"), Text: v.Day(is.EndedAt)},
	}}
	p := portal.Page{Name: "cancelled", Title: v.T("cancel.done.title"), Email: is.Contract.Customer.Email}
	if end := is.Contract.Ending; is.Outcome == session.Scheduled && end != nil {
		p.Title, p.Lead = v.T("cancel.done.later", "day", v.Day(end.At)), v.T("cancel.done.laterText")
		s.Facts = append(s.Facts, portal.Fact{Name: v.T("cancel.done.ends"), Text: v.Day(end.At)})
	}
	if is.Outcome == session.Cancelled && len(is.Effect.Rest.Orders) > 0 {
		p.Title, p.Lead = v.T("cancel.done.charging"), v.T("cancel.done.chargingText")
	}
	s.Facts = append(s.Facts, portal.Fact{Name: v.T("cancel.done.reference"), Text: is.Reference()})
	s.Links = []portal.Action{{Text: v.T("cancel.done.home"), Path: ""}}
	if is.Outcome == session.Cancelled && v.View.Has("/s/{contract}/restart") {
		s.Links = append(s.Links, portal.Action{Text: v.T("action.restart"), Path: at + "/restart"})
	}
	s.Comment = portal.Field{Name: "comment", Label: v.T("cancel.done.comment"), Type: "textarea", Hint: v.T("cancel.done.comment.hint", "n", session.MaxComment), Value: is.Session.Comment, Max: session.MaxComment}
	p.Content = s
	return p
}
