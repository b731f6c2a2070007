package shopify

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// opCost is the most that a change of a draft costs, in points.
const opCost = 15

// maxOps is how many changes of a draft one document makes: few enough to stay
// under the limit of a document, however many objects the answers have.
const maxOps = 40

// draftOp is one change of a draft: a mutation and its arguments beside the
// draft's id.
type draftOp struct {
	mutation string
	args     []opArg
	answer   string // what is read of the payload in addition to its errors
}

// opArg is an argument of a mutation.
type opArg struct {
	name, kind string
	value      any
}

// The parts of answers that decide whether a draft may be committed.
const (
	answerCode    = "appliedDiscount { rejectionReason }"
	answerRemoval = "discountsUpdated { id entitledLines { all lines(first: 1) { nodes { id } } } }"
)

// draftOps returns the changes of an edit in the order in which they are made.
// Lines are removed after others were added, so that there is always one.
func draftOps(e *platform.Edit) []draftOp {
	var ops, removals []draftOp
	if in, any := newDraftInput(e); any {
		ops = append(ops, draftOp{"subscriptionDraftUpdate", []opArg{{"input", "SubscriptionDraftInput!", in}}, ""})
	}
	for i := range e.Lines {
		l := &e.Lines[i]
		line := opArg{"lineId", "ID!", l.Line}
		switch {
		case l.Remove:
			removals = append(removals, draftOp{"subscriptionDraftLineRemove", []opArg{line}, answerRemoval})
		case l.Line == "":
			ops = append(ops, draftOp{"subscriptionDraftLineAdd", []opArg{{"input", "SubscriptionLineInput!", newLineInput(l)}}, ""})
		default:
			ops = append(ops, draftOp{"subscriptionDraftLineUpdate", []opArg{line, {"input", "SubscriptionLineUpdateInput!", newLineInput(l)}}, ""})
		}
	}
	ops = append(ops, removals...)
	for _, d := range e.Discounts {
		if d.Remove != "" {
			ops = append(ops, removeDiscount(d.Remove))
		}
	}
	for _, d := range e.Discounts {
		switch {
		case d.Add != nil && d.Add.FreeShipping:
			ops = append(ops, draftOp{"subscriptionDraftFreeShippingDiscountAdd", []opArg{{"input", "SubscriptionFreeShippingDiscountInput!", newDiscountInput(d.Add)}}, ""})
		case d.Add != nil:
			ops = append(ops, draftOp{"subscriptionDraftDiscountAdd", []opArg{{"input", "SubscriptionManualDiscountInput!", newDiscountInput(d.Add)}}, ""})
		case d.Code != "":
			ops = append(ops, draftOp{"subscriptionDraftDiscountCodeApply", []opArg{{"redeemCode", "String!", d.Code}}, answerCode})
		}
	}
	return ops
}

func removeDiscount(id string) draftOp {
	return draftOp{"subscriptionDraftDiscountRemove", []opArg{{"discountId", "ID!", id}}, ""}
}

// opAnswer is what the platform answers to one change of a draft.
type opAnswer struct {
	UserErrors []wire.UserError `json:"userErrors"`
	Applied    *struct {
		Rejected string `json:"rejectionReason"`
	} `json:"appliedDiscount"`
	Discounts []struct {
		ID       string        `json:"id"`
		Entitled wire.Entitled `json:"entitledLines"`
	} `json:"discountsUpdated"`
}

// changeDraft makes the changes, with as few requests as their number allows,
// and stops at the request in which one was refused. A discount that a removed
// line leaves without any goes with it: the platform would not commit otherwise.
func (s session) changeDraft(ctx context.Context, draft string, ops []draftOp) error {
	gone := map[string]bool{}
	for _, op := range ops {
		if op.mutation == "subscriptionDraftDiscountRemove" {
			gone[op.args[0].value.(string)] = true
		}
	}
	for len(ops) > 0 {
		n := min(len(ops), maxOps)
		answers, err := s.sendOps(ctx, draft, ops[:n])
		if err != nil {
			return err
		}
		ops = ops[n:]
		for _, a := range answers {
			for _, d := range a.Discounts {
				if !d.Entitled.All && !gone[d.ID] {
					if len(d.Entitled.Lines.Nodes) == 0 {
						gone[d.ID] = true
						ops = append(ops, removeDiscount(d.ID))
					}
				}
			}
		}
	}
	return nil
}

// sendOps makes the changes of one request and returns the answers in order.
func (s session) sendOps(ctx context.Context, draft string, ops []draftOp) ([]*opAnswer, error) {
	text, variables, err := draftDocument(draft, ops)
	if err != nil {
		return nil, err
	}
	data := make(map[string]*opAnswer, len(ops))
	errs, err := s.ask(ctx, newDocument("ChangeDraft", text, opCost*len(ops)), variables, &data)
	if err != nil {
		return nil, err
	}
	answers := make([]*opAnswer, len(ops))
	for i := range ops {
		a := data[opAlias(i)]
		if a == nil {
			if err := failure(errs); err != nil {
				return nil, err
			}
			return nil, errNoPayload()
		}
		if r, ok := refused(a.UserErrors); ok {
			return nil, r
		}
		if a.Applied != nil && a.Applied.Rejected != "" {
			return nil, &platform.Refusal{Code: a.Applied.Rejected, Field: "redeemCode", Message: "The platform rejects the discount code: " + a.Applied.Rejected + "."}
		}
		answers[i] = a
	}
	return answers, failure(errs)
}

func opAlias(i int) string { return "op" + strconv.Itoa(i) }

// draftDocument returns a document that makes all changes, and its variables.
// The platform carries out the mutations of a document one after the other.
func draftDocument(draft string, ops []draftOp) (text string, variables []byte, err error) {
	var params, fields strings.Builder
	values := map[string]any{"draft": draft}
	for i, op := range ops {
		fmt.Fprintf(&fields, "\t%s: %s(draftId: $draft", opAlias(i), op.mutation)
		for _, a := range op.args {
			name := a.name + strconv.Itoa(i)
			fmt.Fprintf(&params, ", $%s: %s", name, a.kind)
			fmt.Fprintf(&fields, ", %s: $%s", a.name, name)
			values[name] = a.value
		}
		fmt.Fprintf(&fields, ") { %s userErrors { code field message } }\n", op.answer)
	}
	if variables, err = json.Marshal(values); err != nil {
		return "", nil, fmt.Errorf("encode a draft's changes: %w", err)
	}
	return "mutation ChangeDraft($draft: ID!" + params.String() + ") {\n" + fields.String() + "}", variables, nil
}
