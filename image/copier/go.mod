module olmv1.dev/image/copier

go 1.24.0
