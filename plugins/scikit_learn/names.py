"""List the classes of scikit-learn by their short names, without importing all of scikit-learn."""

from __future__ import annotations

from functools import cache

# Printed by tools/estimator_names.py: the classes of scikit-learn 1.9, each with its kind.
_TABLE = """
classifier sklearn.calibration.CalibratedClassifierCV
classifier sklearn.discriminant_analysis.LinearDiscriminantAnalysis
classifier sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis
classifier sklearn.dummy.DummyClassifier
classifier sklearn.ensemble.AdaBoostClassifier
classifier sklearn.ensemble.BaggingClassifier
classifier sklearn.ensemble.ExtraTreesClassifier
classifier sklearn.ensemble.GradientBoostingClassifier
classifier sklearn.ensemble.HistGradientBoostingClassifier
classifier sklearn.ensemble.RandomForestClassifier
classifier sklearn.ensemble.StackingClassifier
classifier sklearn.ensemble.VotingClassifier
classifier sklearn.gaussian_process.GaussianProcessClassifier
classifier sklearn.linear_model.LogisticRegression
classifier sklearn.linear_model.LogisticRegressionCV
classifier sklearn.linear_model.PassiveAggressiveClassifier
classifier sklearn.linear_model.Perceptron
classifier sklearn.linear_model.RidgeClassifier
classifier sklearn.linear_model.RidgeClassifierCV
classifier sklearn.linear_model.SGDClassifier
classifier sklearn.model_selection.FixedThresholdClassifier
classifier sklearn.model_selection.TunedThresholdClassifierCV
classifier sklearn.multiclass.OneVsOneClassifier
classifier sklearn.multiclass.OneVsRestClassifier
classifier sklearn.multiclass.OutputCodeClassifier
classifier sklearn.multioutput.ClassifierChain
classifier sklearn.multioutput.MultiOutputClassifier
classifier sklearn.naive_bayes.BernoulliNB
classifier sklearn.naive_bayes.CategoricalNB
classifier sklearn.naive_bayes.ComplementNB
classifier sklearn.naive_bayes.GaussianNB
classifier sklearn.naive_bayes.MultinomialNB
classifier sklearn.neighbors.KNeighborsClassifier
classifier sklearn.neighbors.NearestCentroid
classifier sklearn.neighbors.RadiusNeighborsClassifier
classifier sklearn.neural_network.MLPClassifier
classifier sklearn.semi_supervised.LabelPropagation
classifier sklearn.semi_supervised.LabelSpreading
classifier sklearn.semi_supervised.SelfTrainingClassifier
classifier sklearn.svm.LinearSVC
classifier sklearn.svm.NuSVC
classifier sklearn.svm.SVC
classifier sklearn.tree.DecisionTreeClassifier
classifier sklearn.tree.ExtraTreeClassifier
regressor sklearn.compose.TransformedTargetRegressor
regressor sklearn.cross_decomposition.CCA
regressor sklearn.cross_decomposition.PLSCanonical
regressor sklearn.cross_decomposition.PLSRegression
regressor sklearn.dummy.DummyRegressor
regressor sklearn.ensemble.AdaBoostRegressor
regressor sklearn.ensemble.BaggingRegressor
regressor sklearn.ensemble.ExtraTreesRegressor
regressor sklearn.ensemble.GradientBoostingRegressor
regressor sklearn.ensemble.HistGradientBoostingRegressor
regressor sklearn.ensemble.RandomForestRegressor
regressor sklearn.ensemble.StackingRegressor
regressor sklearn.ensemble.VotingRegressor
regressor sklearn.gaussian_process.GaussianProcessRegressor
regressor sklearn.isotonic.IsotonicRegression
regressor sklearn.kernel_ridge.KernelRidge
regressor sklearn.linear_model.ARDRegression
regressor sklearn.linear_model.BayesianRidge
regressor sklearn.linear_model.ElasticNet
regressor sklearn.linear_model.ElasticNetCV
regressor sklearn.linear_model.GammaRegressor
regressor sklearn.linear_model.HuberRegressor
regressor sklearn.linear_model.Lars
regressor sklearn.linear_model.LarsCV
regressor sklearn.linear_model.Lasso
regressor sklearn.linear_model.LassoCV
regressor sklearn.linear_model.LassoLars
regressor sklearn.linear_model.LassoLarsCV
regressor sklearn.linear_model.LassoLarsIC
regressor sklearn.linear_model.LinearRegression
regressor sklearn.linear_model.MultiTaskElasticNet
regressor sklearn.linear_model.MultiTaskElasticNetCV
regressor sklearn.linear_model.MultiTaskLasso
regressor sklearn.linear_model.MultiTaskLassoCV
regressor sklearn.linear_model.OrthogonalMatchingPursuit
regressor sklearn.linear_model.OrthogonalMatchingPursuitCV
regressor sklearn.linear_model.PassiveAggressiveRegressor
regressor sklearn.linear_model.PoissonRegressor
regressor sklearn.linear_model.QuantileRegressor
regressor sklearn.linear_model.RANSACRegressor
regressor sklearn.linear_model.Ridge
regressor sklearn.linear_model.RidgeCV
regressor sklearn.linear_model.SGDRegressor
regressor sklearn.linear_model.TheilSenRegressor
regressor sklearn.linear_model.TweedieRegressor
regressor sklearn.multioutput.MultiOutputRegressor
regressor sklearn.multioutput.RegressorChain
regressor sklearn.neighbors.KNeighborsRegressor
regressor sklearn.neighbors.RadiusNeighborsRegressor
regressor sklearn.neural_network.MLPRegressor
regressor sklearn.svm.LinearSVR
regressor sklearn.svm.NuSVR
regressor sklearn.svm.SVR
regressor sklearn.tree.DecisionTreeRegressor
regressor sklearn.tree.ExtraTreeRegressor
transformer sklearn.cluster.Birch
transformer sklearn.cluster.BisectingKMeans
transformer sklearn.cluster.FeatureAgglomeration
transformer sklearn.cluster.KMeans
transformer sklearn.cluster.MiniBatchKMeans
transformer sklearn.compose.ColumnTransformer
transformer sklearn.cross_decomposition.PLSSVD
transformer sklearn.decomposition.DictionaryLearning
transformer sklearn.decomposition.FactorAnalysis
transformer sklearn.decomposition.FastICA
transformer sklearn.decomposition.IncrementalPCA
transformer sklearn.decomposition.KernelPCA
transformer sklearn.decomposition.LatentDirichletAllocation
transformer sklearn.decomposition.MiniBatchDictionaryLearning
transformer sklearn.decomposition.MiniBatchNMF
transformer sklearn.decomposition.MiniBatchSparsePCA
transformer sklearn.decomposition.NMF
transformer sklearn.decomposition.PCA
transformer sklearn.decomposition.SparseCoder
transformer sklearn.decomposition.SparsePCA
transformer sklearn.decomposition.TruncatedSVD
transformer sklearn.ensemble.RandomTreesEmbedding
transformer sklearn.feature_extraction.DictVectorizer
transformer sklearn.feature_extraction.FeatureHasher
transformer sklearn.feature_extraction.image.PatchExtractor
transformer sklearn.feature_extraction.text.HashingVectorizer
transformer sklearn.feature_extraction.text.TfidfTransformer
transformer sklearn.feature_selection.GenericUnivariateSelect
transformer sklearn.feature_selection.RFE
transformer sklearn.feature_selection.RFECV
transformer sklearn.feature_selection.SelectFdr
transformer sklearn.feature_selection.SelectFpr
transformer sklearn.feature_selection.SelectFromModel
transformer sklearn.feature_selection.SelectFwe
transformer sklearn.feature_selection.SelectKBest
transformer sklearn.feature_selection.SelectPercentile
transformer sklearn.feature_selection.SequentialFeatureSelector
transformer sklearn.feature_selection.VarianceThreshold
transformer sklearn.impute.KNNImputer
transformer sklearn.impute.MissingIndicator
transformer sklearn.impute.SimpleImputer
transformer sklearn.kernel_approximation.AdditiveChi2Sampler
transformer sklearn.kernel_approximation.Nystroem
transformer sklearn.kernel_approximation.PolynomialCountSketch
transformer sklearn.kernel_approximation.RBFSampler
transformer sklearn.kernel_approximation.SkewedChi2Sampler
transformer sklearn.manifold.Isomap
transformer sklearn.manifold.LocallyLinearEmbedding
transformer sklearn.manifold.TSNE
transformer sklearn.neighbors.KNeighborsTransformer
transformer sklearn.neighbors.NeighborhoodComponentsAnalysis
transformer sklearn.neighbors.RadiusNeighborsTransformer
transformer sklearn.neural_network.BernoulliRBM
transformer sklearn.pipeline.FeatureUnion
transformer sklearn.preprocessing.Binarizer
transformer sklearn.preprocessing.FunctionTransformer
transformer sklearn.preprocessing.KBinsDiscretizer
transformer sklearn.preprocessing.KernelCenterer
transformer sklearn.preprocessing.LabelBinarizer
transformer sklearn.preprocessing.LabelEncoder
transformer sklearn.preprocessing.MaxAbsScaler
transformer sklearn.preprocessing.MinMaxScaler
transformer sklearn.preprocessing.MultiLabelBinarizer
transformer sklearn.preprocessing.Normalizer
transformer sklearn.preprocessing.OneHotEncoder
transformer sklearn.preprocessing.OrdinalEncoder
transformer sklearn.preprocessing.PolynomialFeatures
transformer sklearn.preprocessing.PowerTransformer
transformer sklearn.preprocessing.QuantileTransformer
transformer sklearn.preprocessing.RobustScaler
transformer sklearn.preprocessing.SplineTransformer
transformer sklearn.preprocessing.StandardScaler
transformer sklearn.preprocessing.TargetEncoder
transformer sklearn.random_projection.GaussianRandomProjection
transformer sklearn.random_projection.SparseRandomProjection
"""


@cache
def get_sklearn_class_paths(kind: str = "") -> dict[str, str]:
    """Return the paths of scikit-learn's classes by their short names such as ``LinearSVC``.

    `kind` is ``classifier``, ``regressor`` or ``transformer``; "" stands for all three.
    """
    lines = (line.split() for line in _TABLE.strip().splitlines())
    return {path.rpartition(".")[2]: path for kind_of_path, path in lines if kind in ("", kind_of_path)}


def find_counterpart_class_name(name: str, wants_regressor: bool) -> str:
    """Find the regressor that is most like a classifier or, if not `wants_regressor`, the classifier like a regressor.

    `name` and the result are names of classes of scikit-learn; without a similar one it is a linear model.
    """
    endings = [("Classifier", "Regressor"), ("SVC", "SVR"), ("LogisticRegression", "LinearRegression")]
    known = get_sklearn_class_paths("regressor" if wants_regressor else "classifier")
    candidates = [name.replace(*(ends if wants_regressor else ends[::-1])) for ends in endings]
    candidates += [name.removesuffix("Classifier"), f"{name}Classifier"]
    return next((each for each in candidates if each in known), "Ridge" if wants_regressor else "LogisticRegression")
