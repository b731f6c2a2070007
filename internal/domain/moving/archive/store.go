package archive

import (
	"encoding/json"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// checkStore checks what is taken over of a store.
func checkStore(s shop.Shop) error {
	switch {
	case s.OrderHour < 0 || s.OrderHour > 23 || s.OrderMinute < 0 || s.OrderMinute > 59:
		return damaged("%d:%d is not a time of day", s.OrderHour, s.OrderMinute)
	case s.Currency == "":
		return damaged("the store has no currency")
	}
	if _, err := time.LoadLocation(s.TimeZone); err != nil || s.TimeZone == "" {
		return damaged("the time zone %.60q is unknown here", s.TimeZone)
	}
	if err := s.Settings.Check(); err != nil {
		return damaged("the settings of the store: %v", err)
	}
	if err := s.Settings.Dunning.Check(); err != nil {
		return damaged("the settings of the store: %v", err)
	}
	return nil
}

func readDocument(v, into any) error {
	text, _ := v.(Document)
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return damaged("the settings of the store cannot be read: %v", err)
	}
	return nil
}

func textOf(v any) string {
	text, _ := v.(string)
	return text
}

func numberOf(v any) int {
	n, _ := v.(int64)
	return int(n)
}
