package web

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestFieldPathNamesValueOfWrongType(t *testing.T) {
	t.Parallel()
	type rate struct {
		Amount float64  `json:"amount"`
		Tags   []string `json:"tags"`
		ID     AnyID    `json:"id"`
	}
	type Shared struct {
		Title string `json:"title"`
	}
	type body struct {
		Shared
		Name  string `json:"name"`
		Zones []struct {
			Rates []rate `json:"rates"`
		} `json:"zones"`
		Page struct {
			Size int `json:"size"`
		} `json:"page"`
	}
	for name, test := range map[string]struct{ text, want string }{
		"a field of the body":                   {`{"name": 1}`, "name"},
		"a field of a struct that is not shown": {`{"title": 1}`, "title"},
		"a field of an object":                  {`{"name":"a","page":{"size":"x"}}`, "page.size"},
		"a field of an element":                 {`{"zones":[{"rates":[]},{"rates":[{"amount":1},{"amount":"5"}]}]}`, "zones[1].rates[1].amount"},
		"an object for a number":                {`{"zones":[{"rates":[{"amount":{}}]}]}`, "zones[0].rates[0].amount"},
		"a list for a text":                     {`{"name":["a"]}`, "name"},
		"an element of a list of texts":         {`{"zones":[{"rates":[{"tags":["a",2]}]}]}`, "zones[0].rates[0].tags[1]"},
		"a text for a list":                     {`{"zones":"a"}`, "zones"},
		"a value with a decoder of its own":     {`{"zones":[{"rates":[{"id":true}]}]}`, "zones.rates.id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b body
			wrong, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal([]byte(test.text), &b))
			if !ok {
				t.Fatal("it is of the right type")
			}
			if got := fieldPath([]byte(test.text), wrong); got != test.want {
				t.Errorf("got %q, want %q (the library says %q)", got, test.want, wrong.Field)
			}
		})
	}
}

func TestNULPathNamesFieldWithNULCharacter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text, want string
		found      bool
	}{
		"nowhere":                       {`{"a":"b"}`, "", false},
		"a backslash before the digits": {`{"a":"\\u0000"}`, "", false},
		"a field":                       {`{"a":{"b":1},"c":"x\u0000"}`, "c", true},
		"an element of a list":          {`{"a":[{"b":"x"},{"b":["y","\u0000"]}]}`, "a[1].b[1]", true},
		"a name":                        {`{"a":{"b\u0000":1}}`, "a.b", true},
		"a list":                        {`["x","\u0000"]`, "[1]", true},
		"after what is not JSON":        {`{"a":,"b":"\u0000"}`, "", false},
	} {
		if got, found := nulPath([]byte(test.text)); got != test.want || found != test.found {
			t.Errorf("%s: %q, %t", name, got, found)
		}
	}
}
