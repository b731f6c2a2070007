package orders

import (
	"context"
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// Fields of the forms, as the interface names them.
const (
	quantityField = "quantity"
	variantField  = "variantId"
	noteField     = "orderNote"
)

// once is a product of one order that can be changed.
type once struct {
	portal.Item
	Variant  int64
	Quantity portal.Field
	Sent     bool // its form was just sent
	Counted  *portal.Counted
	Without  string // what the order costs without it
	Set      portal.Form
	Remove   portal.Form
}

// editing is what the page of one order shows.
type editing struct {
	Always []portal.Item // what every order has
	Lines  *portal.Action
	Keep   *portal.Form // what takes another product's place; nil: nothing does, or it is too late
	Once   []once
	Bill   []portal.Sum
	Add    *portal.Action
	Note   string
	Edit   *portal.Action // of the note
}

// edit shows what one order has in it, and changes what only it has.
func (m room) edit(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, o, err := m.order(r, v)
	if err != nil {
		return err
	}
	if !o.Can.Allows(do.EditOneTime) {
		return notNow(o.Can[do.EditOneTime], o)
	}
	return v.Answer(w, editPage(r, v, s, o))
}

func editPage(r *http.Request, v portal.Visit, s overview.Sheet, o overview.Order) portal.Page {
	day, at := v.Day(o.BillingDate), words.OrderPath(o.Attempt)
	p := editing{Bill: words.Bill(v, o.Record), Note: o.Note}
	items := words.Items(v, o.Record)
	recurring := len(items) - len(o.OneOffs)
	p.Always = items[:recurring]
	p.Lines = &portal.Action{Text: v.T("edit.lines"), Path: words.Path(s.Contract.ID)}
	if gone := replaced(o); len(gone) > 0 && o.Can.Allows(do.DeclineSwap) {
		is := v.View.Form(at+"/keep", s.Contract.Fingerprint())
		is.Text = v.T("edit.keep", "product", v.Words.List(gone))
		p.Keep = &is
	}
	for i, one := range o.OneOffs {
		is := once{Item: items[recurring+i], Variant: one.Variant.ID, Set: v.View.Form(at+"/quantity", s.Contract.Fingerprint()), Remove: v.View.Form(at+"/remove", s.Contract.Fingerprint())}
		is.Remove.Text, is.Remove.About = v.T("action.remove"), one.Variant.ProductTitle
		is.Set.About = one.Variant.ProductTitle
		is.Quantity = words.QuantityField(v, strconv.Itoa(one.Quantity), command.MaxOneOffQuantity)
		if is.Sent = variantOf(r) == one.Variant.ID && r.PostForm.Has(quantityField); is.Sent {
			is.Quantity.Value = r.PostForm.Get(quantityField)
		}
		is.Counted = counted(v, o.Record, one, is.Quantity)
		is.Counted.Of = strconv.FormatInt(one.Variant.ID, 10)
		if is.Counted.Total == o.Cost().Minor {
			is.Counted.Steps = nil // nothing else is typed
		}
		is.Without = v.T("edit.without", "amount", words.Cost(v, o.Carrying(billing.OneOff{Variant: one.Variant}, nil)))
		p.Once = append(p.Once, is)
	}
	if o.Can.Allows(do.AddOneTime) {
		p.Add = &portal.Action{Text: v.T("action.addProduct"), Icon: "add", Path: at + "/add"}
	}
	if o.Can.Allows(do.EditNote) {
		p.Edit = &portal.Action{Text: v.T("action.change.note"), Path: at + "/note", Asks: true}
	}
	return portal.Page{
		Name: "edit", Title: v.T("edit.title", "day", day), Lead: v.T("edit.text"), Email: s.Contract.Customer.Email,
		Crumb: &portal.Crumb{Name: words.Name(v, s.Contract), Path: words.Path(s.Contract.ID)}, Content: p,
	}
}

// counted shows what an order costs with the quantity of a one-time product that a field has.
func counted(v portal.Visit, o billing.Record, one billing.OneOff, f portal.Field) *portal.Counted {
	n, err := strconv.Atoi(f.Value)
	if err != nil || n < 1 || n > command.MaxOneOffQuantity {
		return &portal.Counted{}
	}
	one.Quantity = n
	return words.CountedOf(v, v.ShortDay(o.BillingDate), o.Cost(), o.Carrying(one, nil).Cost())
}

// checkTotal refuses a form about a one-time product whose reader has not seen what the order will cost. An
// order that costs what it did, and a version of the contract in which nothing is changed, are let pass.
func (m room) checkTotal(r *http.Request, v portal.Visit, p do.OneTime, read func(contract.ID) (do.Product, error)) error {
	s, o, err := m.order(r, v)
	if err != nil || p.Version != s.Contract.Fingerprint() {
		return err
	}
	is, err := read(s.Contract.ID)
	if err != nil {
		return err
	}
	then := o.Carrying(billing.OneOff{Variant: is.Variant, Quantity: p.Quantity}, nil).Cost()
	if then == o.Cost() {
		return nil
	}
	return words.CheckTotal(r, then)
}

// replaced names the products that rules replace in an order.
func replaced(o overview.Order) (names []string) {
	if o.Settled() {
		return nil
	}
	for _, rule := range o.Order().Applied {
		for _, p := range rule.Sources {
			names = append(names, p.Name)
		}
	}
	return names
}

func (m room) keep(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	t, err := targetOf(r)
	if err != nil {
		return err
	}
	return m.setOnce(w, r, v, t, nil, func(ctx context.Context) (string, error) {
		_, err := m.Changes.DeclineSwap(ctx, v.Caller(r), t.ref(r, v))
		return "kept-product", err
	})
}

func (m room) askAdd(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.showAdd(w, r, v, nil)
}

// showAdd lists what can be added to an order, or asks about what was chosen of it.
func (m room) showAdd(w http.ResponseWriter, r *http.Request, v portal.Visit, refused error) error {
	s, o, err := m.order(r, v)
	if err != nil {
		return err
	}
	if !o.Can.Allows(do.AddOneTime) {
		return notNow(o.Can[do.AddOneTime], o)
	}
	day, path := v.Day(o.BillingDate), words.OrderPath(o.Attempt)+"/add"
	if variant := words.VariantAsked(r); variant != 0 {
		p, err := m.Changes.OneTimeProduct(r.Context(), v.Caller(r), s.Contract.ID, variant)
		if err != nil {
			return err
		}
		q := words.Question(v, s.Contract, words.Choosing(path, variant))
		q.Title, q.Lead = v.T("once.ask", "product", words.ProductName(p), "day", day), v.T("once.ask.text", "amount", words.Amount(v, p.Unit), "payment", words.Payment(v, s.Contract))
		q.Fields, q.Button, q.Keep = []portal.Field{words.QuantityField(v, portal.Typed(r, quantityField, "1"), command.MaxOneOffQuantity)}, v.T("once.button"), v.T("once.keep")
		q.Counted = counted(v, o.Record, billing.OneOff{Variant: p.Variant}, q.Fields[0])
		return v.Ask(w, r, q, refused)
	}
	asked := words.ProductsAsked(r)
	list, err := m.Changes.OneTimeProducts(r.Context(), v.Caller(r), s.Contract.ID, asked)
	if err != nil {
		return err
	}
	return v.Answer(w, portal.Page{
		Name: "picker", Title: v.T("once.title", "day", day), Lead: v.T("once.text"), Email: s.Contract.Customer.Email,
		Crumb:   &portal.Crumb{Name: words.Name(v, s.Contract), Path: words.Path(s.Contract.ID)},
		Content: words.Picker(v, path, asked, list, func(p do.Product) string { return words.Amount(v, p.Unit) }),
	})
}

// oneTime reads the product of an order that a form names.
func oneTime(r *http.Request, v portal.Visit, t target, variant int64) (do.OneTime, error) {
	p := do.OneTime{ContractRef: do.ContractRef{ID: t.contract, Version: v.Version(r)}, Attempt: t.attempt, Variant: variant}
	var err error
	p.Quantity, err = words.Quantity(r, command.MaxOneOffQuantity)
	return p, err
}

func (m room) add(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	t, err := targetOf(r)
	if err != nil {
		return err
	}
	p, err := oneTime(r, v, t, words.VariantAsked(r))
	if err == nil && words.Counts(r) {
		return m.showAdd(w, r, v, nil)
	}
	if err == nil {
		err = v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
			err := m.checkTotal(r, v, p, func(of contract.ID) (do.Product, error) {
				return m.Changes.OneTimeProduct(ctx, v.Caller(r), of, p.Variant)
			})
			if err != nil {
				return "", err
			}
			return t.path() + "?done=once", m.Changes.AddOneTime(ctx, v.Caller(r), p)
		})
	}
	return v.Again(err, func() error { return m.showAdd(w, r, v, err) })
}

// path is the page of the order.
func (t target) path() string {
	return words.OrderPath(billing.Attempt{Contract: t.contract, ID: t.attempt})
}

// setOnce carries out a form about a product of the order, which is shown again when it fails.
func (m room) setOnce(w http.ResponseWriter, r *http.Request, v portal.Visit, t target, refused error, work func(context.Context) (string, error)) error {
	err := refused
	if err == nil {
		err = v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
			done, err := work(ctx)
			return t.path() + "?done=" + done, err
		})
	}
	return v.Again(err, func() error {
		s, o, failed := m.order(r, v)
		if failed != nil {
			return failed
		}
		return v.Refuse(w, r, editPage(r, v, s, o), err)
	})
}

func (m room) quantity(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	t, err := targetOf(r)
	if err != nil {
		return err
	}
	p, err := oneTime(r, v, t, variantOf(r))
	if err == nil && words.Counts(r) {
		s, o, err := m.order(r, v)
		if err != nil {
			return err
		}
		return v.Answer(w, editPage(r, v, s, o))
	}
	return m.setOnce(w, r, v, t, err, func(ctx context.Context) (string, error) {
		err := m.checkTotal(r, v, p, func(contract.ID) (one do.Product, err error) {
			one.ID = p.Variant // the order has it, or the change is refused
			return one, nil
		})
		if err != nil {
			return "", err
		}
		_, err = m.Changes.UpdateOneTime(ctx, v.Caller(r), p)
		return "once-changed", err
	})
}

func (m room) remove(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	t, err := targetOf(r)
	if err != nil {
		return err
	}
	return m.setOnce(w, r, v, t, nil, func(ctx context.Context) (string, error) {
		p := do.OneTime{ContractRef: do.ContractRef{ID: t.contract, Version: v.Version(r)}, Attempt: t.attempt, Variant: variantOf(r)}
		return "once-removed", m.Changes.RemoveOneTime(ctx, v.Caller(r), p)
	})
}

// variantOf returns the product that a form names; 0: none.
func variantOf(r *http.Request) int64 {
	n, err := strconv.ParseInt(r.PostForm.Get(variantField), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (m room) askNote(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, o, err := m.order(r, v)
	if err != nil {
		return err
	}
	if !o.Can.Allows(do.EditNote) {
		return notNow(o.Can[do.EditNote], o)
	}
	return v.Ask(w, r, noteQuestion(r, v, s, o), nil)
}

// noteQuestion asks what the store should know about an order.
func noteQuestion(r *http.Request, v portal.Visit, s overview.Sheet, o overview.Order) portal.Question {
	q := words.Question(v, s.Contract, words.OrderPath(o.Attempt)+"/note")
	q.Title, q.Lead = v.T("note.ask", "day", v.Day(o.BillingDate)), v.T("note.ask.text")
	q.Fields = []portal.Field{{Name: noteField, Type: "textarea", Label: v.T("note.label"), Hint: v.T("note.hint", "n", billing.MaxNote), Value: portal.Typed(r, noteField, o.Note), Max: billing.MaxNote}}
	q.Button, q.Keep = v.T("note.button"), v.T("note.keep")
	return q
}

func (m room) note(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	ask := func(v portal.Visit, s overview.Sheet, o overview.Order) portal.Question {
		return noteQuestion(r, v, s, o)
	}
	return m.change(w, r, v, ask, func(ctx context.Context, t target) (string, error) {
		text := r.PostForm.Get(noteField)
		_, err := m.Changes.EditOrder(ctx, v.Caller(r), t.ref(r, v), do.OrderEdit{Note: &text})
		return words.Path(t.contract) + "?done=note", err
	})
}
