package contract

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/support"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// card is a list of facts beside the page.
type card struct {
	ID, Title string
	Facts     []fact
	Buttons   []button
	Lazy      string // path of the part that is read on its own; empty: none
}

// fact is a name and its value.
type fact struct {
	Name, Value string
	Badge       *dashboard.Badge
	Copy        bool // people take it elsewhere
	Remove      string
}

// expiryNotice is how long before it expires a card is warned of.
const expiryNotice = 60 * 24 * time.Hour

func (m *room) side(v dashboard.Visit, s support.Sheet) []card {
	c := s.Contract
	may := v.May(staff.ManageContracts)
	open := may && !c.Terminated()
	when := func(is bool, list ...button) []button {
		if is {
			return list
		}
		return nil
	}
	sum, exact := c.PaidSoFar()
	paid := dashboard.Count(c.Completed(), "order", "orders") + ", " + dashboard.Money(sum)
	if !exact {
		paid += "; of the order of the checkout the products alone"
	}
	return []card{
		{ID: "customer", Title: "Customer", Facts: facts("Name", c.Customer.Name, "E-mail", c.Customer.Email, "Phone", c.Customer.Phone, "Paid so far", paid),
			Buttons: when(may && c.Customer.ID != 0, button{Name: "Open portal as customer", Path: at(c.ID) + "/portal", Icon: "portal"})},
		{ID: "payment", Title: "Payment", Facts: m.payment(c), Buttons: when(open, button{Name: "Send update link", Path: do(c.ID, "payment-link", ""), Icon: "mail"})},
		{ID: "delivery", Title: "Delivery", Facts: facts("Country", c.DeliveryCountry, "Price", dashboard.Money(c.DeliveryPrice)), Lazy: at(c.ID) + "/delivery"},
		{ID: "plan", Title: "Plan", Facts: plan(c), Buttons: when(open, button{Name: "Set number of orders", Path: do(c.ID, "cycles", ""), Icon: "edit"})},
		{ID: "discounts", Title: "Discounts", Facts: discounts(c, open), Buttons: when(open, button{Name: "Apply code", Path: do(c.ID, "apply-code", "")}, button{Name: "Add discount", Path: do(c.ID, "add-discount", "")})},
		{ID: "flags", Title: "Flags", Facts: facts("Charged", map[bool]string{true: "Automatically", false: "Only when asked for"}[c.AutoCharge], "Origin", words.Name(string(c.Origin)), "Last payment", words.Name(strings.ToLower(c.LastPayment)))},
		{ID: "ids", Title: "Ids", Facts: ids(c)},
	}
}

// facts are the pairs that have a value.
func facts(pairs ...string) []fact {
	var list []fact
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			list = append(list, fact{Name: pairs[i], Value: pairs[i+1]})
		}
	}
	return list
}

func (m *room) payment(c contract.Contract) []fact {
	if c.PaymentMethod == "" {
		return facts("Method", "None: no order can be charged")
	}
	k := c.Card
	list := facts("Method", strings.TrimSpace(words.Name(k.Brand)+ending(k.LastDigits)))
	if len(list) == 0 {
		list = facts("Method", "On file; its kind is not known")
	}
	if !c.PaymentUsable {
		list[0].Badge = &dashboard.Badge{Tone: dashboard.Bad, Text: "Revoked"}
	}
	if k.ExpiryYear != 0 {
		e := fact{Name: "Expires", Value: fmt.Sprintf("%02d/%d", k.ExpiryMonth, k.ExpiryYear)}
		switch end := time.Date(k.ExpiryYear, time.Month(k.ExpiryMonth)+1, 1, 0, 0, 0, 0, time.UTC); {
		case !m.Clock.Now().Before(end):
			e.Badge = &dashboard.Badge{Tone: dashboard.Bad, Text: "Expired"}
		case m.Clock.Now().Add(expiryNotice).After(end):
			e.Badge = &dashboard.Badge{Tone: dashboard.Warning, Text: "Soon"}
		}
		list = append(list, e)
	}
	return append(list, facts("Billing country", c.BillingCountry)...)
}

func ending(digits string) string {
	if digits == "" {
		return ""
	}
	return " ending " + digits
}

func plan(c contract.Contract) []fact {
	var plans []string
	seen := map[string]bool{}
	for _, l := range c.Lines {
		if l.SellingPlanName != "" && !seen[l.SellingPlanName] {
			seen[l.SellingPlanName] = true
			plans = append(plans, l.SellingPlanName)
		}
	}
	limit := func(n int, none string) string {
		if n == 0 {
			return none
		}
		return strconv.Itoa(n)
	}
	return facts("Plan", strings.Join(plans, ", "), "Billed", words.Name(c.Billing.String()), "Delivered", words.Name(c.Delivery.String()),
		"Orders so far", strconv.Itoa(c.Completed()), "At least", limit(c.MinCycles, "No minimum"), "At most", limit(c.MaxCycles, "No maximum"))
}

func discounts(c contract.Contract, open bool) []fact {
	if len(c.Discounts) == 0 {
		return facts("Discounts", "None beside the plan’s")
	}
	list := make([]fact, len(c.Discounts))
	for i, d := range c.Discounts {
		value := fmt.Sprintf("%d %% off", d.Percent)
		switch {
		case d.FreeShipping:
			value = "Free shipping"
		case d.Percent == 0:
			value = dashboard.Money(d.Amount) + " off"
		}
		if d.CycleLimit > 0 {
			value += fmt.Sprintf(", %d of %d orders used", d.UsedCycles, d.CycleLimit)
		}
		list[i] = fact{Name: d.Title, Value: value}
		if d.RejectedWhy != "" {
			list[i].Badge = &dashboard.Badge{Tone: dashboard.Warning, Text: "Not applied: " + words.Name(d.RejectedWhy)}
		}
		if open {
			list[i].Remove = do(c.ID, "remove-discount", d.ID)
		}
	}
	return list
}

func ids(c contract.Contract) []fact {
	list := facts("Contract", fmt.Sprintf("gid://shopify/SubscriptionContract/%d", c.ID), "Imported as", c.ImportedID, "Payment method", c.PaymentMethod)
	for _, n := range []struct {
		name string
		id   int64
	}{{"Customer", c.Customer.ID}, {"First order", c.OriginOrderID}, {"Last order", c.LastOrderID}, {"Split from", int64(c.SplitFrom)}} {
		if n.id != 0 {
			list = append(list, fact{Name: n.name, Value: strconv.FormatInt(n.id, 10)})
		}
	}
	for i := range list {
		list[i].Copy = true
	}
	return list
}

// delivery is the part of the page that only the platform knows.
func (m *room) delivery(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := number(r, "contract")
	if err != nil {
		return err
	}
	c, err := m.Sheets.Contract(r.Context(), v.Shop.ID, contract.ID(id))
	if err != nil {
		return err
	}
	list := facts("Country", c.DeliveryCountry, "Price", dashboard.Money(c.DeliveryPrice))
	d, err := m.Platform.Detail(r.Context(), v.Shop.ID, c.Line, c.ID)
	switch {
	case err == nil:
		list = delivered(d)
	case fault.Is(err, fault.Unavailable) || fault.Is(err, fault.DependencyFailed) || fault.Is(err, fault.FailedPrecondition):
		list = append(list, fact{Name: "Address", Value: "The platform does not answer now. The address is kept there.", Badge: &dashboard.Badge{Tone: dashboard.Warning, Text: "Not known"}})
	default:
		return err
	}
	if r.Header.Get("HX-Request") == "" {
		return v.Answer(w, dashboard.Page{Name: "contract-delivery-page", Title: "Delivery", Crumb: crumb(c), Content: list})
	}
	return v.Fragment(w, "contract-delivery", list)
}

func delivered(d contract.Detail) []fact {
	a := d.Method.Address
	var lines []string
	for _, l := range []string{strings.TrimSpace(a.FirstName + " " + a.LastName), a.Company, a.Address1, a.Address2, strings.TrimSpace(a.Zip + " " + a.City), a.Province, a.Country} {
		if l != "" {
			lines = append(lines, l)
		}
	}
	return facts("Address", strings.Join(lines, "\n"), "Method", words.Name(d.Method.Kind), "Service", d.Method.Title, "Phone", d.Method.Phone, "Instructions", d.Method.Instructions, "Price", dashboard.Money(d.DeliveryPrice))
}

// mailRow is an e-mail in the list.
type mailRow struct {
	Subject, Path, Day string
	Badge              dashboard.Badge
}

func mails(v dashboard.Visit, c contract.Contract, list []notify.Message) []mailRow {
	rows := make([]mailRow, len(list))
	for i, n := range list {
		rows[i] = mailRow{words.MessageTitle(n), fmt.Sprintf("%s/mails/%d", at(c.ID), n.ID), v.Instant(n.CreatedAt), words.MailBadges[n.Result().Status]}
	}
	return rows
}

// mailPage is what the page of an e-mail shows.
type mailPage struct {
	Facts []fact
	Text  string
	Gone  string // why there is no text
}

func (m *room) mail(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := number(r, "contract")
	if err != nil {
		return err
	}
	n, err := number(r, "mail")
	if err != nil {
		return err
	}
	c, err := m.Sheets.Contract(r.Context(), v.Shop.ID, contract.ID(id))
	if err != nil {
		return err
	}
	mail, err := m.Sheets.Mail(r.Context(), v.Shop.ID, c.ID, notify.MessageID(n))
	if err != nil {
		return err
	}
	became := mail.Result()
	b := words.MailBadges[became.Status]
	p := mailPage{Facts: facts("To", mail.To, "From", mail.FromName, "Kind", words.MailName(mail.Kind), "Queued", v.Instant(mail.CreatedAt), "Sent", v.Instant(mail.SentAt), "Last error", became.Reason), Text: mail.Text}
	p.Facts = append([]fact{{Name: "Status", Badge: &b}}, p.Facts...)
	switch {
	case mail.Kind == notify.ManagementLink:
		p.Gone = "Its text holds a link that signs the customer in, so it is not shown."
	case mail.Text == "":
		p.Gone = "Its text is not shown: it is not sent yet, or was erased."
	}
	return v.Answer(w, dashboard.Page{Name: "contract-mail", Title: words.MessageTitle(mail), Crumb: crumb(c), Content: p})
}
