package shopify

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

type imageNode struct {
	URL string `json:"url"`
}

type variantNode struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	SKU       string    `json:"sku"`
	Price     string    `json:"price"` // in the store's currency
	Taxable   bool      `json:"taxable"`
	Available bool      `json:"availableForSale"`
	Image     imageNode `json:"image"`
	Inventory struct {
		RequiresShipping bool `json:"requiresShipping"`
	} `json:"inventoryItem"`
	Product productNode `json:"product"`
}

type productNode struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Handle string `json:"handle"`
	Vendor string `json:"vendor"`
	Type   string `json:"productType"`
	OnPlan bool   `json:"requiresSellingPlan"`
	Media  struct {
		Preview struct {
			Image imageNode `json:"image"`
		} `json:"preview"`
	} `json:"featuredMedia"`
}

// Variants returns the variants that exist, in the order of the ids.
func (c *Client) Variants(ctx context.Context, shop platform.Shop, ids []int64) ([]platform.Variant, error) {
	var got struct {
		Nodes []*variantNode `json:"nodes"`
		Shop  struct {
			Currency money.Currency `json:"currencyCode"`
		} `json:"shop"`
	}
	if err := c.session(shop).byIDs(ctx, "Variants", admin.Variants_Operation, typeVariant, ids, &got); err != nil {
		return nil, fmt.Errorf("read variants: %w", err)
	}
	if len(got.Nodes) != len(ids) {
		return nil, fmt.Errorf("read variants: %w", errNodes(len(got.Nodes), len(ids)))
	}
	list := make([]platform.Variant, 0, len(ids))
	for _, n := range got.Nodes {
		if n == nil || n.ID == "" {
			continue
		}
		v, err := newVariant(n, got.Shop.Currency)
		if err != nil {
			return nil, fmt.Errorf("read variant %s: %w", n.ID, err)
		}
		list = append(list, v)
	}
	return list, nil
}

// ProductVariants returns the variants of products, product by product.
func (c *Client) ProductVariants(ctx context.Context, shop platform.Shop, products []int64) ([]platform.Variant, error) {
	if len(products) > platform.MaxProducts {
		return nil, fmt.Errorf("read the variants of %d products: at most %d at once", len(products), platform.MaxProducts)
	}
	var got struct {
		Nodes []*struct {
			productNode

			Variants struct {
				Nodes []variantNode `json:"nodes"`
			} `json:"variants"`
		} `json:"nodes"`
		Shop struct {
			Currency money.Currency `json:"currencyCode"`
		} `json:"shop"`
	}
	if err := c.session(shop).byIDs(ctx, "ProductVariants", admin.ProductVariants_Operation, typeProduct, products, &got); err != nil {
		return nil, fmt.Errorf("read the variants of products: %w", err)
	}
	if len(got.Nodes) != len(products) {
		return nil, fmt.Errorf("read the variants of products: %w", errNodes(len(got.Nodes), len(products)))
	}
	var list []platform.Variant
	for _, p := range got.Nodes {
		if p == nil {
			continue
		}
		for _, n := range p.Variants.Nodes {
			n.Product = p.productNode
			v, err := newVariant(&n, got.Shop.Currency)
			if err != nil {
				return nil, fmt.Errorf("read variant %s: %w", n.ID, err)
			}
			list = append(list, v)
		}
	}
	return list, nil
}

func newVariant(n *variantNode, c money.Currency) (platform.Variant, error) {
	price, err := amount(wire.Money{Amount: n.Price, CurrencyCode: string(c)})
	if err != nil {
		return platform.Variant{}, err
	}
	id, err := gid.Parse(typeVariant, n.ID)
	if err != nil {
		return platform.Variant{}, unknown(err)
	}
	image := n.Image.URL
	if image == "" {
		image = n.Product.Media.Preview.Image.URL
	}
	return platform.Variant{
		ID: id, ProductID: gid.Number(n.Product.ID), Title: n.Title, ProductTitle: n.Product.Title, SKU: n.SKU, Image: image,
		Handle: n.Product.Handle, Vendor: n.Product.Vendor, ProductType: n.Product.Type, Price: price, Available: n.Available, Taxable: n.Taxable,
		RequiresShipping: n.Inventory.RequiresShipping, OnlyOnPlans: n.Product.OnPlan,
	}, nil
}

type customerNode struct {
	admin.Customer
	Tags []string `json:"tags"`
}

// Customers returns the customers that exist, in the order of the ids.
func (c *Client) Customers(ctx context.Context, shop platform.Shop, ids []int64) ([]platform.Customer, error) {
	var got struct {
		Nodes []*customerNode `json:"nodes"`
	}
	if err := c.session(shop).byIDs(ctx, "Customers", admin.Customers_Operation, typeCustomer, ids, &got); err != nil {
		return nil, fmt.Errorf("read customers: %w", err)
	}
	if len(got.Nodes) != len(ids) {
		return nil, fmt.Errorf("read customers: %w", errNodes(len(got.Nodes), len(ids)))
	}
	list := make([]platform.Customer, 0, len(ids))
	for _, n := range got.Nodes {
		if n == nil || n.Id == "" {
			continue
		}
		k := newCustomer(&n.Customer)
		k.Tags = n.Tags
		list = append(list, k)
	}
	return list, nil
}

// byIDs reads the objects of a type with the given ids, at most platform.MaxIDs.
// Without any it leaves into alone.
func (s session) byIDs(ctx context.Context, name, text, objectType string, ids []int64, into any) error {
	if len(ids) > platform.MaxIDs {
		return fmt.Errorf("%d at once: at most %d", len(ids), platform.MaxIDs)
	}
	if len(ids) == 0 {
		return nil
	}
	graphIDs := make([]string, len(ids))
	for i, id := range ids {
		graphIDs[i] = gid.Of(objectType, id)
	}
	return s.nodes(ctx, name, text, graphIDs, into)
}

// PaymentMethods returns all of them, however many pages they take.
func (c *Client) PaymentMethods(ctx context.Context, shop platform.Shop, customer int64) ([]platform.PaymentMethod, error) {
	list := []platform.PaymentMethod{}
	for cursor, more := "", true; more; {
		got, err := admin.PaymentMethods(ctx, c.session(shop), gid.Of(typeCustomer, customer), cursor)
		if err == nil && got.Customer == nil {
			err = platform.ErrNotFound
		}
		if err != nil {
			return nil, fmt.Errorf("read the payment methods of customer %d: %w", customer, err)
		}
		page := got.Customer.PaymentMethods
		for _, n := range page.Nodes {
			m := newPaymentMethod(admin.PaymentMethod{Id: n.ID, RevokedAt: n.RevokedAt, Instrument: n.Instrument})
			m.Instrument = newInstrument(n.Instrument)
			m.Instrument.RevokedAt, m.Instrument.RevokedWhy = n.RevokedAt, n.RevokedReason
			list = append(list, m)
		}
		cursor, more = page.PageInfo.EndCursor, page.PageInfo.HasNextPage
	}
	return list, nil
}

// Fulfillments reads the first of them, which are more than any order has in practice.
func (c *Client) Fulfillments(ctx context.Context, shop platform.Shop, order int64) ([]platform.Fulfillment, error) {
	got, err := admin.Fulfillments(ctx, c.session(shop), gid.Of(typeOrder, order))
	if err == nil && got.Order == nil {
		err = platform.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read the fulfillments of order %d: %w", order, err)
	}
	list := make([]platform.Fulfillment, len(got.Order.Fulfillments))
	for i, f := range got.Order.Fulfillments {
		list[i] = platform.Fulfillment{
			ID: f.ID, Status: f.Status, DisplayStatus: f.DisplayStatus, CreatedAt: f.CreatedAt, EstimatedAt: f.EstimatedAt, DeliveredAt: f.DeliveredAt,
		}
		for _, t := range f.Tracking {
			list[i].Tracking = append(list[i].Tracking, platform.Tracking(t))
		}
		for _, l := range f.Lines.Nodes {
			list[i].Lines = append(list[i].Lines, platform.FulfilledLine{ID: l.ID, Quantity: l.Quantity, Line: l.Line.ID, Title: l.Line.Title, SKU: l.Line.SKU})
		}
	}
	return list, nil
}

// Tag adds the tags and then removes tags: a request for each that is asked for.
func (c *Client) Tag(ctx context.Context, shop platform.Shop, id string, add, remove []string) error {
	s := c.session(shop)
	if len(add) > 0 {
		got, err := admin.AddTags(ctx, s, id, add)
		if err == nil {
			if got.TagsAdd == nil {
				err = errNoPayload()
			} else {
				err = answered(got.TagsAdd.UserErrors)
			}
		}
		if err != nil {
			return fmt.Errorf("tag %s: %w", id, err)
		}
	}
	if len(remove) == 0 {
		return nil
	}
	got, err := admin.RemoveTags(ctx, s, id, remove)
	if err == nil {
		if got.TagsRemove == nil {
			err = errNoPayload()
		} else {
			err = answered(got.TagsRemove.UserErrors)
		}
	}
	return about(err, "remove tags of %s", id)
}

// OrderLines returns what an order has of a contract, however many pages it takes.
// The error is platform.ErrNotFound when it has nothing of it.
func (c *Client) OrderLines(ctx context.Context, shop platform.Shop, order, contract int64) ([]platform.Line, error) {
	var list []platform.Line
	for cursor, more := "", true; more; {
		got, err := admin.OrderLines(ctx, c.session(shop), gid.Of(typeOrder, order), cursor)
		if err == nil && got.Order == nil {
			err = platform.ErrNotFound
		}
		if err != nil {
			return nil, fmt.Errorf("read the lines of order %d: %w", order, err)
		}
		page := got.Order.LineItems
		for _, n := range page.Nodes {
			if n.Contract == nil || gid.Number(n.Contract.ID) != contract {
				continue
			}
			l, err := newOrderLine(n)
			if err != nil {
				return nil, fmt.Errorf("read the lines of order %d: %w", order, err)
			}
			list = append(list, l)
		}
		cursor, more = page.PageInfo.EndCursor, page.PageInfo.HasNextPage
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("order %d has no line of contract %d: %w", order, contract, platform.ErrNotFound)
	}
	return list, nil
}

func newOrderLine(n wire.OrderLine) (platform.Line, error) {
	price, err := amount(n.UnitPrice.PresentmentMoney)
	return platform.Line{
		ID: n.ID, ProductID: gid.Number(n.Product.ID), VariantID: gid.Number(n.Variant.ID), SKU: n.SKU, Title: n.Title, VariantTitle: n.VariantTitle,
		Image: n.Image.URL, Quantity: n.Quantity, Price: price, SellingPlanID: gid.Number(n.Plan.ID), SellingPlanName: n.Plan.Name, Taxable: n.Taxable,
	}, err
}

// NoteOrder replaces an order's note.
func (c *Client) NoteOrder(ctx context.Context, shop platform.Shop, order int64, note string) error {
	got, err := admin.NoteOrder(ctx, c.session(shop), wire.OrderInput{ID: gid.Of(typeOrder, order), Note: note})
	if err == nil {
		if got.OrderUpdate == nil {
			err = errNoPayload()
		} else {
			err = answered(got.OrderUpdate.UserErrors)
		}
	}
	return about(err, "note order %d", order)
}

// SendPaymentUpdate lets the platform send its e-mail.
func (c *Client) SendPaymentUpdate(ctx context.Context, shop platform.Shop, paymentMethod string) error {
	got, err := admin.SendPaymentUpdate(ctx, c.session(shop), paymentMethod)
	if err == nil {
		if p := got.CustomerPaymentMethodSendUpdateEmail; p == nil {
			err = errNoPayload()
		} else {
			err = answered(p.UserErrors)
		}
	}
	return about(err, "send the payment update e-mail of %s", paymentMethod)
}
