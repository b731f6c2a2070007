package platformtest_test

import (
	"fmt"
)

// Locations returns the places of the store.
func (w *world) Locations() []int64 {
	w.t.Helper()
	list, err := w.sim.Locations(domain)
	w.must(err)
	ids := make([]int64, len(list))
	for i, l := range list {
		ids[i] = l.ID
	}
	return ids
}

// Carrier returns the store's carrier.
func (w *world) Carrier() int64 {
	w.t.Helper()
	var got struct {
		CarrierServices struct{ Nodes []struct{ ID string } }
	}
	w.ask(`query { carrierServices(first: 1) { nodes { id } } }`, &got)
	var id int64
	_, err := fmt.Sscanf(got.CarrierServices.Nodes[0].ID, "gid://shopify/DeliveryCarrierService/%d", &id)
	w.must(err)
	return id
}

// Rates reads a profile past the client.
func (w *world) Rates(profile int64) []string {
	w.t.Helper()
	type rate struct {
		Name         string
		RateProvider struct {
			Price *struct{ Amount string }
		}
		MethodConditions []struct {
			Field, Operator   string
			ConditionCriteria struct {
				Amount, Unit string
				Value        float64
			}
		}
	}
	var got struct {
		DeliveryProfile struct {
			ProfileLocationGroups []struct {
				LocationGroup struct {
					Locations struct {
						Nodes []struct{ LegacyResourceID string }
					}
				}
				LocationGroupZones struct {
					Nodes []struct {
						Zone struct {
							Name      string
							Countries []struct {
								Code struct {
									CountryCode string
									RestOfWorld bool
								}
								Provinces []struct{ Code string }
							}
						}
						MethodDefinitions struct{ Nodes []rate }
					}
				}
			}
		}
	}
	w.ask(fmt.Sprintf(`query { deliveryProfile(id: "gid://shopify/DeliveryProfile/%d") { profileLocationGroups {
		locationGroup { locations(first: 10) { nodes { legacyResourceId } } }
		locationGroupZones(first: 10) { nodes {
			zone { name countries { code { countryCode restOfWorld } provinces { code } } }
			methodDefinitions(first: 10) { nodes { name
				rateProvider { __typename ... on DeliveryRateDefinition { price { amount } } ... on DeliveryParticipant { carrierService { id } } }
				methodConditions { field operator conditionCriteria { ... on MoneyV2 { amount } ... on Weight { value unit } } }
			} }
		} }
	} } }`, profile), &got)
	var list []string
	for _, g := range got.DeliveryProfile.ProfileLocationGroups {
		for _, z := range g.LocationGroupZones.Nodes {
			where := "*"
			if c := z.Zone.Countries[0]; !c.Code.RestOfWorld {
				where = c.Code.CountryCode
				for _, p := range c.Provinces {
					where += "-" + p.Code
				}
			}
			for _, m := range z.MethodDefinitions.Nodes {
				text := fmt.Sprintf("%s %s: %s", g.LocationGroup.Locations.Nodes[0].LegacyResourceID, where, m.Name)
				if m.RateProvider.Price == nil {
					text += " carrier"
				} else {
					text += " " + decimals(m.RateProvider.Price.Amount)
				}
				for _, c := range m.MethodConditions {
					sign := map[string]string{"GREATER_THAN_OR_EQUAL_TO": "≥", "LESS_THAN_OR_EQUAL_TO": "≤"}[c.Operator]
					if c.Field == "TOTAL_PRICE" {
						text += " price" + sign + decimals(c.ConditionCriteria.Amount)
					} else {
						text += fmt.Sprintf(" weight%s%v %s", sign, c.ConditionCriteria.Value, c.ConditionCriteria.Unit)
					}
				}
				list = append(list, text)
			}
		}
	}
	return list
}

// decimals writes an amount with two decimals.
func decimals(amount string) string {
	var n float64
	_, _ = fmt.Sscan(amount, &n)
	return fmt.Sprintf("%.2f", n)
}
