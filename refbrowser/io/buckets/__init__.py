"""Object stores: s3, gs, abfs."""
