package table

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

// parseAttributes reads attributes from a JSON object, a JSON list of names and values, or a text
// such as "key=value; key=value".
func parseAttributes(text string) ([]contract.Attribute, error) {
	switch {
	case text == "":
		return nil, nil
	case text[0] == '{':
		return attributesOfObject(text)
	case text[0] == '[':
		return attributesOfList(text)
	}
	var list []contract.Attribute
	for part := range strings.SplitSeq(text, ";") {
		if part = trim(part); part == "" {
			continue
		}
		key, value, found := strings.Cut(part, "=")
		if key = trim(key); !found || key == "" {
			return nil, fmt.Errorf("%.60q is not key=value", part)
		}
		list = append(list, contract.Attribute{Key: key, Value: trim(value)})
	}
	return list, nil
}

// attributesOfObject keeps the order of the keys.
func attributesOfObject(text string) ([]contract.Attribute, error) {
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("%.60q is not JSON", text)
	}
	var list []contract.Attribute
	in := json.NewDecoder(strings.NewReader(text))
	if _, err := in.Token(); err != nil {
		return nil, err
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return nil, err
		}
		list = append(list, contract.Attribute{Key: fmt.Sprint(key), Value: valueText(value)})
	}
	return list, nil
}

func attributesOfList(text string) ([]contract.Attribute, error) {
	var items []struct {
		Key, Name string
		Value     json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		return nil, fmt.Errorf("%.60q is not a list of names and values in JSON", text)
	}
	var list []contract.Attribute
	for _, i := range items {
		if i.Key == "" {
			i.Key = i.Name
		}
		if i.Key == "" {
			return nil, fmt.Errorf("%.60q has a value without a name", text)
		}
		list = append(list, contract.Attribute{Key: i.Key, Value: valueText(i.Value)})
	}
	return list, nil
}

// valueText returns a text as it is, null as an empty one, and any other value as JSON.
func valueText(value json.RawMessage) string {
	var text *string
	if json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	if text == nil {
		return ""
	}
	return *text
}
