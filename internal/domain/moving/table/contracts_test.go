package table_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/table"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// scanned opens a file and its scan, with the columns that are guessed.
func scanned(t testing.TB, kind table.Kind, text string) (*table.File, *table.Scan) {
	t.Helper()
	f := open(t, text)
	scan, err := f.Scan(kind, table.Guess(kind, f.Header))
	if err != nil {
		t.Fatal(err)
	}
	return open(t, text), scan
}

// contracts reads a file whose columns are guessed.
func contracts(t testing.TB, text string, o table.Options) []table.Row {
	t.Helper()
	f, scan := scanned(t, table.ContractRows, text)
	var list []table.Row
	for r, err := range table.Contracts(f, scan, o) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// found lists findings as "fit code field".
func found(findings []moving.Finding) []string {
	var list []string
	for _, f := range findings {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Fit, f.Code, f.Field)))
	}
	return list
}

var euros = table.Options{Currency: "EUR"}

// header and valid are a file that the tests of findings change one value of.
var (
	header = []string{
		"id", "email", "customer id", "status", "next order date", "billing interval", "billing count", "delivery interval",
		"variant id", "sku", "quantity", "price",
		"selling plan id", "payment method", "min cycles", "max cycles", "currency", "discount percent", "discount amount",
		"attributes", "orders",
	}
	valid = map[string]string{"id": "7", "email": "ana@example.com", "status": "active", "next order date": "2026-12-31", "billing interval": "MONTH", "variant id": "44", "price": "12.50"}
)

func withValues(changed map[string]string) string {
	var b strings.Builder
	fmt.Fprintln(&b, strings.Join(header, "|"))
	cells := make([]string, len(header))
	for i, name := range header {
		value, is := changed[name]
		if !is {
			value = valid[name]
		}
		cells[i] = value
	}
	fmt.Fprintln(&b, strings.Join(cells, "|"))
	return b.String()
}

func TestFindingsSayWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		changed map[string]string
		want    []string
	}{
		{"a valid row", nil, nil},
		{"no contract", map[string]string{"id": ""}, []string{"STAYS valueMissing id"}},
		{"a formula for a contract", map[string]string{"id": "=A1"}, []string{"STAYS valueIsFormula id"}},
		{"a rounded contract", map[string]string{"id": "1.04E+11"}, []string{"STAYS idShortened id"}},
		{"no customer", map[string]string{"email": ""}, []string{"STAYS valueMissing customerId"}},
		{"a wrong e-mail address", map[string]string{"email": "ana"}, []string{"STAYS valueInvalid email"}},
		{"a wrong e-mail address of a known customer", map[string]string{"email": "ana", "customer id": "9"}, []string{"CHANGES valueLeftOut email"}},
		{"a customer of another platform", map[string]string{"customer id": "cus_9"}, []string{"STAYS valueInvalid customerId"}},
		{"a rounded customer", map[string]string{"customer id": "7,06E+12"}, []string{"STAYS idShortened customerId"}},
		{"no status", map[string]string{"status": ""}, []string{"STAYS valueMissing status"}},
		{"an unknown status", map[string]string{"status": "maybe"}, []string{"STAYS valueInvalid status"}},
		{"no date", map[string]string{"next order date": ""}, []string{"STAYS valueMissing nextOrderDate"}},
		{"no date of a paused contract", map[string]string{"next order date": "", "status": "On hold"}, nil},
		{"a wrong date", map[string]string{"next order date": "soon"}, []string{"STAYS valueInvalid nextOrderDate"}},
		{"no interval", map[string]string{"billing interval": ""}, []string{"STAYS valueMissing billingInterval"}},
		{"an unknown interval", map[string]string{"billing interval": "often"}, []string{"STAYS valueInvalid billingInterval"}},
		{"a count of 0", map[string]string{"billing count": "0"}, []string{"STAYS valueInvalid billingCount"}},
		{"a formula for a count", map[string]string{"billing count": "=1"}, []string{"STAYS valueIsFormula billingCount"}},
		{"deliveries that do not fit", map[string]string{"delivery interval": "WEEK"}, []string{"STAYS valueInvalid deliveryInterval"}},
		{"no variant", map[string]string{"variant id": ""}, []string{"STAYS valueMissing variantId"}},
		{"an unknown SKU", map[string]string{"variant id": "", "sku": "X"}, []string{"STAYS skuUnknown sku"}},
		{"a variant with an SKU", map[string]string{"sku": "X"}, nil},
		{"no pieces", map[string]string{"quantity": "0"}, []string{"STAYS valueInvalid quantity"}},
		{"half a piece", map[string]string{"quantity": "1.5"}, []string{"STAYS valueInvalid quantity"}},
		{"pieces with decimals", map[string]string{"quantity": "2.0"}, nil},
		{"no price", map[string]string{"price": ""}, []string{"STAYS valueMissing price"}},
		{"a price of nothing", map[string]string{"price": "0"}, nil},
		{"a formula for a price", map[string]string{"price": "=B2*2"}, []string{"STAYS valueIsFormula price"}},
		{"a wrong plan", map[string]string{"selling plan id": "gid://shopify/Product/1"}, []string{"STAYS valueInvalid sellingPlanId"}},
		{"a payment method of another platform", map[string]string{"payment method": "pm_1"}, []string{"CHANGES valueLeftOut paymentMethodId"}},
		{"limits that contradict each other", map[string]string{"min cycles": "5", "max cycles": "3"}, []string{"STAYS valueInvalid minCycles"}},
		{"an unknown currency", map[string]string{"currency": "EUO"}, []string{"STAYS valueInvalid currency"}},
		{"half a percent", map[string]string{"discount percent": "12.5"}, []string{"STAYS valueInvalid discountPercent"}},
		{"two discounts", map[string]string{"discount percent": "10", "discount amount": "1"}, []string{"STAYS valueInvalid discountAmount"}},
		{"wrong attributes", map[string]string{"attributes": "a"}, []string{"STAYS valueInvalid attributes"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			rows := contracts(t, withValues(row.changed), euros)
			if len(rows) != 1 || !slices.Equal(found(rows[0].Findings), row.want) {
				t.Fatalf("got %v, want %v", rows, row.want)
			}
			for _, f := range rows[0].Findings {
				if !strings.HasPrefix(f.Text, "line 2, column \"") || !strings.Contains(f.Text, ": ") {
					t.Errorf("%q names no line and column", f.Text)
				}
			}
		})
	}
}

func TestContractHasWhatItsRowsSay(t *testing.T) {
	t.Parallel()
	rows := contracts(t, string(table.Template(table.ContractRows)), table.Options{})
	if len(rows) != 2 || len(rows[0].Findings)+len(rows[1].Findings) > 0 {
		t.Fatalf("rows are %+v", rows)
	}
	euro := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "EUR"} }
	day := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	}
	month := cadence.Policy{Interval: cadence.Month, Count: 1}
	want := moving.Contract{
		ID: 10482, Line: shop.Subscriptions, Status: contract.Active, Currency: "EUR", ImportedID: "sub_10482",
		Customer: contract.Customer{ID: 7061234567890, Email: "ana@example.com", FirstName: "Ana", LastName: "Costa", Name: "Ana Costa", Phone: "+49 30 901820"},
		Billing:  month, Delivery: month, MinCycles: 3, MaxCycles: 24, CyclesDone: 7, Orders: 7,
		Lines: []moving.Line{
			{
				ID: "line 1", Variant: 44012345678901, Title: "Coffee 500 g", Quantity: 2, Price: euro(1250), Plan: 688123, PlanName: "Every month",
				Attributes: []contract.Attribute{{Key: "grind", Value: "coarse"}},
			},
			{ID: "line 2", Variant: 44012345678902, Title: "Filters", Quantity: 1, Price: euro(390), Plan: 688123, PlanName: "Every month"},
		},
		Discounts:     []contract.Discount{{ID: "discount 1", Title: "Regular customer", Percent: 10, CycleLimit: 3, AllLines: true}},
		DeliveryPrice: euro(490),
		Method: contract.DeliveryMethod{Kind: platform.MethodShipping, Title: "Standard", Address: contract.Address{
			FirstName: "Ana", LastName: "Costa", Company: "Costa GmbH", Address1: "Torstr. 1", Address2: "2nd floor", City: "Berlin",
			Province: "Berlin", ProvinceCode: "BE", Country: "Germany", CountryCode: "DE", Zip: "10119", Phone: "+49 30 901820",
		}},
		PaymentMethod: "gid://shopify/CustomerPaymentMethod/6bc8ee92ae4ad8e3", Note: "Ring twice",
		Attributes: []contract.Attribute{{Key: "gift", Value: "yes"}, {Key: "wrap", Value: "paper"}},
		Next:       day(2027, time.January, 15), CreatedAt: day(2025, time.March, 1),
	}
	if got := rows[0].Contract; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := rows[1].Contract; got.Status != contract.Paused || got.Billing.Count != 2 || got.Delivery.Interval != cadence.Week || !got.Next.IsZero() || rows[1].Line != 4 {
		t.Errorf("the second contract is %+v", got)
	}
}

func TestTemplatesAreReadWithoutFindings(t *testing.T) {
	t.Parallel()
	points, scanOfPoints := scanned(t, table.PointRows, string(table.Template(table.PointRows)))
	customers, scanOfCustomers := scanned(t, table.CustomerRows, string(table.Template(table.CustomerRows)))
	n := 0
	for r, err := range table.Points(points, scanOfPoints, table.Options{}) {
		if n++; err != nil || len(r.Findings) > 0 || r.Balance == 0 {
			t.Errorf("points: %+v, %v", r, err)
		}
	}
	for r, err := range table.Customers(customers, scanOfCustomers, table.Options{}) {
		if n++; err != nil || len(r.Findings) > 0 || r.FirstName == "" {
			t.Errorf("customers: %+v, %v", r, err)
		}
	}
	if n != 4 {
		t.Errorf("%d rows, want 4", n)
	}
}

func TestNumberFollowsFromID(t *testing.T) {
	t.Parallel()
	numbers := make(map[int64]string)
	for _, row := range []struct {
		id   string
		want int64 // 0: not fixed
	}{
		{"7", 7},
		{"9223372036854775807", 9223372036854775807},
		{"gid://shopify/SubscriptionContract/8", 8},
		{"007", 0}, {"sub_7", 8665099087916179155}, {"9223372036854775808", 0}, {"7.0", 0}, {"7 a", 0},
	} {
		rows := contracts(t, withValues(map[string]string{"id": row.id}), euros)
		got := rows[0].Contract
		if len(rows[0].Findings) > 0 || got.ImportedID != row.id || got.ID < 1 || row.want != 0 && got.ID != row.want || numbers[got.ID] != "" {
			t.Errorf("contract %q has the number %d, want %d; %v", row.id, got.ID, row.want, rows[0].Findings)
		}
		numbers[got.ID] = row.id
	}
}

func TestSpellingsOfOtherProgramsAreRead(t *testing.T) {
	t.Parallel()
	text := "id,customer id,status,next order date,billing interval,variant id,price,country,payment method\n" +
		"7,7061.0,Canceled,,month,gid://shopify/ProductVariant/44,1,de,6bc8\n"
	rows := contracts(t, text, euros)
	c := rows[0].Contract
	if len(rows[0].Findings) > 0 || c.Customer.ID != 7061 || c.Status != contract.Cancelled || c.Lines[0].Variant != 44 ||
		c.Method.Address != (contract.Address{CountryCode: "DE"}) || c.PaymentMethod != "gid://shopify/CustomerPaymentMethod/6bc8" {
		t.Errorf("got %+v, %v", c, rows[0].Findings)
	}
}

func TestSKUsAreLookedUp(t *testing.T) {
	t.Parallel()
	o := euros
	o.Variants = func(sku string) []int64 { return map[string][]int64{"COFFEE": {45}, "MUG": {46, 47}}[sku] }
	rows := contracts(t, withValues(map[string]string{"variant id": "", "sku": "COFFEE"}), o)
	if got := rows[0].Contract.Lines[0].Variant; got != 45 || len(rows[0].Findings) > 0 {
		t.Errorf("variant %d, %v", got, rows[0].Findings)
	}
	for _, sku := range []string{"TEA", "MUG"} {
		rows = contracts(t, withValues(map[string]string{"variant id": "", "sku": sku}), o)
		if got := found(rows[0].Findings); !slices.Equal(got, []string{"STAYS skuUnknown sku"}) {
			t.Errorf("%s: got %v", sku, got)
		}
	}
}

const short = "id,email,next order date,billing interval,variant id,price\n"

func TestRowsBecomeContracts(t *testing.T) {
	t.Parallel()
	const end = ",ana@example.com,2026-12-31,month,44,1\n"
	const other = ",ana@example.com,2026-12-31,month,45,1\n"
	var many strings.Builder
	for n := range 502 {
		fmt.Fprintf(&many, "7,ana@example.com,2026-12-31,month,%d,1\n", 1000+n)
	}
	type contract struct {
		line, lines int
		findings    string
	}
	for _, row := range []struct {
		name, rows string
		want       []contract
	}{
		{"two lines and one", "7" + end + "7" + other + "8" + end, []contract{{2, 2, ""}, {4, 1, ""}}},
		{"the same row twice", "7" + end + "8" + end + "8" + other + "8" + end + "8" + end,
			[]contract{{2, 1, ""}, {3, 4, "STAYS rowTwice id, STAYS rowTwice id"}}},
		{"rows of a contract that stand apart", "7" + end + "8" + end + "7" + other, []contract{{2, 1, "STAYS contractTwice id"}, {3, 1, ""}, {4, 1, "STAYS contractTwice id"}}},
		{"rows that differ", "7" + end + "7,ben@example.com,2026-12-31,month,45,1\n", []contract{{2, 2, "STAYS contractDiffers email"}}},
		{"rows that leave out what the first one says", "7" + end + "7,,,,45,1\n", []contract{{2, 2, ""}}},
		{"rows that say more than the first one", "7,ana@example.com,,month,44,1\n7" + end, []contract{{2, 2, "STAYS valueMissing nextOrderDate, STAYS contractDiffers nextOrderDate"}}},
		{"a quotation mark between", "7" + end + "8,a\"b,2026-12-31,month,44,1\n9" + end,
			[]contract{{2, 1, "STAYS rowUnreadable"}, {3, 0, "STAYS rowUnreadable"}, {4, 1, "STAYS rowUnreadable"}}},
		{"a NUL byte after what is looked at", "7" + end + strings.Repeat(",,,,,\n", 12_000) + "8,a\x00b,2026-12-31,month,44,1\n",
			[]contract{{2, 1, "STAYS rowUnreadable"}, {12_003, 0, "STAYS rowUnreadable"}}},
		{"too many values", "7" + end + "8,ana@example.com,2026-12-31,month,44,1,50\n",
			[]contract{{2, 1, "STAYS rowUnreadable"}, {3, 0, "STAYS rowUnreadable"}}},
		{"empty values too many", "8,ana@example.com,2026-12-31,month,44,1,,\n", []contract{{2, 1, ""}}},
		{"too few values", "8,ana@example.com,2026-12-31,month,44\n", []contract{{2, 1, "STAYS valueMissing price"}}},
		{"a row without a contract", "7" + end + end + "8" + end,
			[]contract{{2, 1, "STAYS rowUnreadable"}, {3, 0, "STAYS valueMissing id"}, {4, 1, "STAYS rowUnreadable"}}},
		{"a quotation mark that stays open at the end", "7" + end + "8,\"ana", []contract{{2, 1, "STAYS rowUnreadable"}, {3, 0, "STAYS rowUnreadable"}}},
		{"a quotation mark that is open for some lines", "7,\"ana@example.com,2026-12-31,month,44,1\n8,\"ana@example.com\",2026-12-31,month,44,1\n9" + end,
			[]contract{{2, 0, "STAYS rowUnreadable"}, {4, 1, "STAYS rowUnreadable"}}},
		{"too many lines", many.String(), []contract{{2, 500, "STAYS tooManyLines"}}},
		{"header only", "", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var got []contract
			for _, r := range contracts(t, short+row.rows, euros) {
				got = append(got, contract{r.Line, len(r.Contract.Lines), strings.Join(found(r.Findings), ", ")})
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

func TestTextsKeepTheirFormulas(t *testing.T) {
	t.Parallel()
	text := "id,email,next order date,billing interval,variant id,price,note,phone\n7,ana@example.com,2026-12-31,month,44,1,'=1+1,'+49 30 1\n8,ana@example.com,2026-12-31,month,44,1,@home,+49 30 1\n"
	rows := contracts(t, text, euros)
	for i, note := range []string{"=1+1", "@home"} {
		if c := rows[i].Contract; c.Note != note || c.Customer.Phone != "+49 30 1" || len(rows[i].Findings) > 0 {
			t.Errorf("note %q, phone %q, %v", c.Note, c.Customer.Phone, rows[i].Findings)
		}
	}
}

func TestReadingMayStop(t *testing.T) {
	t.Parallel()
	f, scan := scanned(t, table.ContractRows, withValues(nil)+"8"+strings.Repeat("|", len(header)-1)+"\n")
	for range table.Contracts(f, scan, euros) {
		break
	}
}

func TestMappingMustFit(t *testing.T) {
	t.Parallel()
	m := table.Mapping{"id": "id", "email": "mail", "colour": "id"}
	want := []string{
		"Billing interval has no column", "Price has no column", "neither Variant nor SKU has a column", `"colour" is not a field`, `E-mail address has the column "mail", which the file lacks`,
	}
	got := m.Check(table.ContractRows, []string{"id", "email"})
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
	if _, err := open(t, "id,email\n").Scan(table.ContractRows, m); !fault.Is(err, fault.Invalid) {
		t.Errorf("a mapping that does not fit: %v", err)
	}
}

func TestGuessKnowsUsualNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		kind   table.Kind
		header string
		want   table.Mapping
	}{
		{table.ContractRows, "subscription_id,customer_email,shopify_variant_id,next_charge_date,charge_interval_frequency,order_interval_unit,quantity,price", table.Mapping{
			"id": "subscription_id", "email": "customer_email", "variantId": "shopify_variant_id",
			"nextOrderDate": "next_charge_date",
			"billingCount":  "charge_interval_frequency", "deliveryInterval": "order_interval_unit", "quantity": "quantity",
			"price": "price",
		}},
		{table.ContractRows, "ID,Next Billing Date,Billing Interval,Interval Frequency,SKU,Unit Price,Customer ID,Shipping Address 1,Shipping Country Code", table.Mapping{
			"id": "ID", "nextOrderDate": "Next Billing Date", "billingInterval": "Billing Interval",
			"billingCount": "Interval Frequency", "sku": "SKU", "price": "Unit Price",
			"customerId": "Customer ID", "deliveryAddress1": "Shipping Address 1",
			"deliveryCountryCode": "Shipping Country Code",
		}},
		{table.ContractRows, "id,status,customerId,customerEmail,customerFirstName,billingInterval,billingCount,deliveryInterval,deliveryCount,maxCycles,nextBillingDate,earlierOrders,deliveryPrice,paymentMethod,importedId,createdAt,unrelated", table.Mapping{
			"id": "id", "status": "status", "customerId": "customerId", "email": "customerEmail",
			"firstName": "customerFirstName", "billingInterval": "billingInterval",
			"billingCount": "billingCount", "deliveryInterval": "deliveryInterval", "deliveryCount": "deliveryCount",
			"maxCycles": "maxCycles", "nextOrderDate": "nextBillingDate",
			"orders": "earlierOrders", "deliveryPrice": "deliveryPrice", "paymentMethodId": "paymentMethod",
			"importedId": "importedId", "createdAt": "createdAt",
		}},
		{table.PointRows, "Email,Points Balance,Points Earned", table.Mapping{"email": "Email", "balance": "Points Balance", "lifetimePoints": "Points Earned"}},
		{table.CustomerRows, "E-Mail,Date of Birth,Locale,Accepts Marketing", table.Mapping{"email": "E-Mail", "birthday": "Date of Birth", "language": "Locale", "emailConsent": "Accepts Marketing"}},
	} {
		got := table.Guess(row.kind, strings.Split(row.header, ","))
		if !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", row.header, got, row.want)
		}
		text, err := json.Marshal(got)
		var again table.Mapping
		if err != nil || json.Unmarshal(text, &again) != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s is read as %v, %v", text, again, err)
		}
	}
}

func TestFieldsAreSound(t *testing.T) {
	t.Parallel()
	for _, kind := range table.Kinds {
		names := make(map[string]bool)
		var header []string
		for _, f := range table.Fields(kind) {
			if names[f.Name] || f.Label == "" || f.About == "" || f.Example == "" {
				t.Errorf("%s: %s is there twice, or says nothing", kind, f.Name)
			}
			names[f.Name] = true
			header = append(header, f.Name)
		}
		m := table.Guess(kind, header)
		for _, name := range header {
			if m[name] != name {
				t.Errorf("%s: the column %s is taken for %v", kind, name, m)
			}
		}
		if missing := m.Check(kind, header); len(missing) > 0 {
			t.Errorf("%s: %q", kind, missing)
		}
	}
}

func TestPointsHaveFindings(t *testing.T) {
	t.Parallel()
	f, scan := scanned(t, table.PointRows, "email;points;lifetime points\nana@example.com;1.250,5;2000 pts\nANA@example.com;5;\n;5;\nben@example.com;;\ncem@example.com;10;5\ndov@example.com;=1;\neva@example.com;-1;\na\"b;1;\nfay@example.com;1,255;\n")
	type row struct {
		line              int
		balance, lifetime loyalty.Points
		findings          string
	}
	var got []row
	for r, err := range table.Points(f, scan, table.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, row{r.Line, r.Balance, r.Lifetime, strings.Join(found(r.Findings), ", ")})
	}
	want := []row{
		{2, 125050, 200000, "STAYS customerTwice customerId"},
		{3, 500, 500, "STAYS customerTwice customerId"},
		{4, 0, 0, "STAYS valueMissing customerId"},
		{5, 0, 0, "STAYS valueMissing balance"},
		{6, 1000, 1000, "CHANGES valueInvalid lifetimePoints"},
		{7, 0, 0, "STAYS valueIsFormula balance"},
		{8, 0, 0, "STAYS valueInvalid balance"},
		{9, 0, 0, "STAYS rowUnreadable"},
		{10, 0, 0, "STAYS amountAmbiguous balance"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestCustomersAreRead(t *testing.T) {
	t.Parallel()
	f, scan := scanned(t, table.CustomerRows, "customer id,email,first name,birthday,language,email consent\ngid://shopify/Customer/7,ana@example.com,Ana,23.04.1990,pt_br,Yes\n8,,Ben,,klingon!,maybe\n")
	var got []table.CustomerRow
	for r, err := range table.Customers(f, scan, table.Options{Zone: time.FixedZone("", 9*3600)}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if len(got) != 2 {
		t.Fatalf("got %+v", got)
	}
	ana, ben := got[0], got[1]
	if ana.Customer != (table.Person{ID: 7, Email: "ana@example.com"}) || ana.Birthday != (cadence.Date{Year: 1990, Month: time.April, Day: 23}) ||
		ana.Language != "pt-BR" || ana.EmailConsent != table.Agreed || len(ana.Findings) > 0 {
		t.Errorf("got %+v", ana)
	}
	if want := []string{"CHANGES valueLeftOut language", "CHANGES valueLeftOut emailConsent"}; !slices.Equal(found(ben.Findings), want) || ben.EmailConsent != table.NotSaid {
		t.Errorf("got %+v", ben)
	}
}

func TestReportHasNoFormulas(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := table.Report(&out)
	for _, err := range []error{
		r.Write(2, "=1+1", []moving.Finding{{Fit: moving.Stays, Code: "valueMissing", Field: "price", Text: "line 2: a, b"}, {Fit: moving.Changes, Code: "x", Text: "=x"}}),
		r.Write(3, "8", nil),
		r.Flush(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const want = "line,id,fit,code,field,text\r\n2,'=1+1,STAYS,valueMissing,price,\"line 2: a, b\"\r\n2,'=1+1,CHANGES,x,,'=x\r\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
