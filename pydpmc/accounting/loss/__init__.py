"""Privacy-loss distributions on a grid."""
