package config

import "time"

// Doctor holds what perennial doctor checks beyond the settings of the service.
type Doctor struct {
	Backups   string        `help:"Folder with backups of the database. Its newest file must be young enough." placeholder:"FOLDER" env:"PERENNIAL_BACKUPS"`
	BackupAge time.Duration `help:"Greatest age of the newest backup." default:"26h" env:"PERENNIAL_BACKUP_AGE"`
}
