"""What flows: schemas, batches of rows and the arrays that they are made of."""
