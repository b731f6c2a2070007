package letters

import (
	"html"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/notify"
)

func TestTemplateReplacesPartsOfALetter(t *testing.T) {
	t.Parallel()
	w := writer(t)
	f := mailtemplate.Fields{
		Subject: "{{ customer.first_name }}: {{ order.total }} on {{ order.date }}", Heading: "Soon, {{ customer.first_name }}", Preheader: "Beside, {{ customer.first_name }}",
		Body: "<p>Hi {{ customer.first_name }} at {{ shop.name }}</p>\n{{ letter.orders }}\n<p>Bye<br>us</p>{{ letter.button }}{% for item in order.items %}<p>{{ item.title }}</p>{% endfor %}", Button: "Look, {{ customer.first_name }}",
	}
	l, problems, err := w.Preview(t.Context(), hostile, mailtemplate.Key{Kind: notify.UpcomingOrder, Language: "en"}, f)
	if err != nil || len(problems) != 0 {
		t.Fatalf("%v, %v", problems, err)
	}
	if want := "Ada: $37.80 on Monday, March 9"; l.Subject != want {
		t.Errorf("subject %q, want %q", l.Subject, want)
	}
	lint(t, "a template", "en", l)
	for _, want := range []string{"Soon, Ada", "Beside, Ada", "Hi Ada at &lt;b&gt;", "Next order", "Look, Ada", "<p>Green tea</p>", "Stop these messages"} {
		if !strings.Contains(l.HTML, want) {
			t.Errorf("the HTML lacks %q", want)
		}
	}
	for _, want := range []string{"Soon, Ada\n", "Hi Ada at <b>\"Tea\" & more\n", "Green tea, 100 g, 2 pieces", "Bye\nus", "Look, Ada:\nhttps://"} {
		if !strings.Contains(l.Text, want) {
			t.Errorf("the text lacks %q:\n%s", want, l.Text)
		}
	}
	if strings.Contains(l.HTML+l.Text, "You don’t need to do anything") || strings.Contains(l.HTML, "\x00") {
		t.Error("the product's body is in it")
	}
}

func TestProductsWordsAreThoseOfItsLetter(t *testing.T) {
	t.Parallel()
	w := writer(t)
	for _, kind := range notify.CustomerKinds() {
		for _, language := range []string{"en", "de", "ja"} {
			k := mailtemplate.Key{Kind: kind, Language: language}
			f, err := w.Product(t.Context(), hostile, k)
			if err != nil {
				t.Fatal(err)
			}
			l, _, err := w.Preview(t.Context(), hostile, k, mailtemplate.Fields{})
			if err != nil {
				t.Fatal(err)
			}
			if f.Subject != l.Subject || f.Heading == "" || f.Preheader == "" || f.Body == "" {
				t.Errorf("%s in %s: %+v, and the subject is %q", kind, language, f, l.Subject)
			}
			inHTML := html.UnescapeString(l.HTML)
			if !strings.Contains(inHTML, ">"+f.Heading+"</h1>") {
				t.Errorf("%s in %s: %q is not the heading of the letter", kind, language, f.Heading)
			}
			for _, part := range append(strings.Split(f.Body, "\n\n"), f.Preheader, f.Heading, f.Button) {
				if !strings.Contains(inHTML, part) {
					t.Errorf("%s in %s: the letter lacks %q", kind, language, part)
				}
			}
		}
	}
}

func TestTemplatesAreFenced(t *testing.T) {
	t.Parallel()
	w := writer(t)
	body := func(text string) mailtemplate.Fields { return mailtemplate.Fields{Body: text} }
	for name, test := range map[string]struct {
		fields  mailtemplate.Fields
		kind    notify.Kind
		field   string
		line    int
		problem string
		warning bool
	}{
		"a variable that does not exist":    {fields: body("<p>\n{{ customer.frist_name }}</p>"), field: "body", line: 2, problem: `customer has no property "frist_name"`},
		"an object that does not exist":     {fields: mailtemplate.Fields{Subject: "{{ user.name }}"}, field: "subject", line: 1, problem: `there is no object "user"`},
		"a tag that is not closed":          {fields: body("{% if order.total %}<p>x</p>"), field: "body", line: 1, problem: "if"},
		"a file":                            {fields: body("{% render 'x' %}"), field: "body", problem: "snippet"},
		"a loop without end":                {fields: body(strings.Repeat("{% for i in (1..900) %}", 4) + "x" + strings.Repeat("{% endfor %}", 4)), field: "body", problem: "the te"},
		"megabytes":                         {fields: body("{% for i in (1..900) %}" + strings.Repeat("<p>0123456789</p>", 100) + "{% endfor %}"), field: "body", problem: "longer than"},
		"division by zero":                  {fields: body("<p>{{ 1 | divided_by: 0 }}</p>"), field: "body", line: 1, problem: "divided by 0"},
		"a script":                          {fields: body("<p>x</p><script>alert(1)</script>"), field: "body", problem: "<script> is not allowed"},
		"a handler":                         {fields: body(`<p onclick="x()">x</p>`), field: "body", problem: "<p> cannot have onclick"},
		"a link that runs":                  {fields: body(`<p><a href="javascript:alert(1)">x</a></p>`), field: "body", problem: "must begin with https"},
		"a picture that is no address":      {fields: body(`<p><img src="data:image/png;base64,x" alt=""></p>`), field: "body", problem: "must begin with https"},
		"a style that loads":                {fields: body(`<p style="background:url(https://spy.example/x)">x</p>`), field: "body", problem: "is not allowed"},
		"a form":                            {fields: body(`<form action="https://x.example"></form>`), field: "body", problem: "<form> is not allowed"},
		"an element around a block":         {fields: body("<div>{{ letter.orders }}</div>"), field: "body", problem: "before {{ letter.orders }}: <div> is not closed"},
		"an end without a beginning":        {fields: body("<p>x</p></div>"), field: "body", problem: "</div> closes nothing"},
		"a subject of nothing":              {fields: mailtemplate.Fields{Subject: "{% if false %}x{% endif %}"}, field: "subject", problem: "nothing is left"},
		"a sign-in without its link":        {fields: body("<p>x</p>"), kind: notify.ManagementLink, field: "body", problem: "needs its link"},
		"a required one without its button": {fields: body("<p>x</p>"), kind: notify.TransactionFailed, field: "body", problem: "add {{ letter.button }}"},
		"one without a button":              {fields: body("<p>x</p>"), field: "body", problem: "can be pressed", warning: true},
		"a picture without alt text":        {fields: body(`<p><img src="https://x.example/a.png"></p>{{ letter.button }}`), field: "body", problem: "alt text", warning: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := test.kind
			if kind == "" {
				kind = notify.UpcomingOrder
			}
			l, problems, err := w.Preview(t.Context(), hostile, mailtemplate.Key{Kind: kind, Language: "en"}, test.fields)
			if err != nil || len(problems) != 1 {
				t.Fatalf("%+v, %v", problems, err)
			}
			p := problems[0]
			if p.Field != test.field || test.line > 0 && p.Line != test.line || !strings.Contains(p.Text, test.problem) || p.Warning != test.warning {
				t.Errorf("%+v", p)
			}
			if !test.warning {
				lint(t, name, "en", l)
			}
		})
	}
}

func TestProblemsOfEveryFieldAreReported(t *testing.T) {
	t.Parallel()
	w := writer(t)
	f := mailtemplate.Fields{Subject: "{{ user }}", Preheader: "{% if true %}", Heading: "{{ customer.nick }}", Body: "<p>\n<script></script></p>", Button: "{{ order.sum }}"}
	l, problems, err := w.Preview(t.Context(), hostile, mailtemplate.Key{Kind: notify.UpcomingOrder, Language: "en"}, f)
	var fields []string
	for _, p := range problems {
		fields = append(fields, p.Field)
	}
	if want := "subject preheader heading body button"; err != nil || strings.Join(fields, " ") != want {
		t.Errorf("problems with %v, want %s; %v", fields, want, err)
	}
	if lint(t, "a template with problems", "en", l); strings.Contains(l.HTML, "user") || l.Subject == "" {
		t.Errorf("the subject is %q", l.Subject)
	}
	l, problems, err = w.Preview(t.Context(), hostile, mailtemplate.Key{Kind: notify.UpcomingOrder, Language: "en"}, mailtemplate.Fields{Subject: "mine", Body: "{{ user }}"})
	if err != nil || len(problems) != 1 || l.Subject == "mine" {
		t.Errorf("with %+v the subject is %q, not the product's; %v", problems, l.Subject, err)
	}
}

// A subject is one line, whatever a value holds: what follows a line break would be another header.
func TestValuesMakeNoHeaders(t *testing.T) {
	t.Parallel()
	w := writer(t)
	l, _, err := w.Preview(t.Context(), hostile, mailtemplate.Key{Kind: notify.Paused, Language: "en"}, mailtemplate.Fields{Subject: "a{{ 'x\r\nBcc: eve@example.com' }}"})
	if err != nil || strings.ContainsAny(l.Subject, "\r\n") {
		t.Errorf("subject %q, %v", l.Subject, err)
	}
}
