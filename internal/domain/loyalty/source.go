package loyalty

// SourceType is the type of an activity for which points move.
type SourceType string

// The types of activities. Earn rules give points for those up to Custom.
const (
	Purchase      SourceType = "PURCHASE"
	Start         SourceType = "SUBSCRIPTION_START"
	Renewal       SourceType = "SUBSCRIPTION_RENEWAL"
	CreateAccount SourceType = "CREATE_ACCOUNT"
	NewsLetter    SourceType = "NEWSLETTER"
	SMS           SourceType = "SMS"
	Birthday      SourceType = "BIRTHDAY"
	Review        SourceType = "REVIEW"
	Facebook      SourceType = "FACEBOOK"
	Instagram     SourceType = "INSTAGRAM"
	Twitter       SourceType = "TWITTER"
	Pinterest     SourceType = "PINTEREST"
	YouTube       SourceType = "YOUTUBE"
	TikTok        SourceType = "TIKTOK"
	ShareFacebook SourceType = "SHARE_ON_FACEBOOK"
	ShareX        SourceType = "SHARE_ON_X"
	Referral      SourceType = "REFERRAL"
	Custom        SourceType = "CUSTOM"

	Manual       SourceType = "MANUAL" // by a person
	Import       SourceType = "IMPORT" // from another programme
	RewardSource SourceType = "REWARD" // redeemed or refunded
	Expiry       SourceType = "EXPIRY"
)

// EarnSources lists the types that earn rules can have.
var EarnSources = []SourceType{
	Purchase, Start, Renewal, CreateAccount, NewsLetter, SMS, Birthday, Review, Facebook, Instagram, Twitter, Pinterest, YouTube,
	TikTok, ShareFacebook, ShareX, Referral, Custom,
}

// oncePerMember reports whether a member gets points for the activity only once.
func (o SourceType) oncePerMember() bool {
	switch o {
	case CreateAccount, NewsLetter, SMS, Facebook, Instagram, Twitter, Pinterest, YouTube, TikTok, ShareFacebook, ShareX:
		return true
	}
	return false
}

// Source identifies one activity. The same source moves points once for each rule and kind
// of entry.
type Source struct {
	Type SourceType
	ID   string
}
