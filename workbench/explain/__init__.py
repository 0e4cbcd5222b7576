"""What an analyst is shown of the network and of sharing decisions: captions, drawings, texts."""
